import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROGRAM } from '../../kit/program.ts';
import { keysIn } from '../../kit/started-program.ts';

const ROOT = dirname(dirname(dirname(PROGRAM)));
const REPOSITORY = manifestOf(ROOT);

/** What `npm run package` writes, unpacked. */
const folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'));
const unpacked = join(folder, 'package');
let packed = '';

beforeAll(() => {
  const file = execFileSync('npm', ['run', '--silent', 'package', '--', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  packed = join(folder, file.trim());
  execFileSync('tar', ['-xzf', packed, '-C', folder]);
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function manifestOf(place: string): any {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
}

/** The package of an import, without what is asked of it. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function importsIn(place: string, pattern: RegExp): Set<string> {
  const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(js|tsx?)$/.test(name),
  );
  return new Set(
    files
      .filter((name) => !name.includes('.test.'))
      .flatMap((name) => [...readFileSync(join(place, name), 'utf8').matchAll(pattern)])
      .map(([, specifier = '']) => packageOf(specifier)),
  );
}

describe('the package that ships', () => {
  it('installs what is not bundled, in the versions of the repository, and nothing else', () => {
    const shipped = manifestOf(unpacked);
    for (const member of ['private', 'devDependencies', 'scripts', 'overrides'])
      expect(shipped).not.toHaveProperty(member);
    expect(shipped).toMatchObject({
      name: REPOSITORY.name,
      version: REPOSITORY.version,
      bin: REPOSITORY.bin,
    });
    for (const [name, version] of Object.entries(shipped.dependencies)) {
      expect(version).toMatch(/^\d/);
      expect(REPOSITORY.dependencies).toHaveProperty([name], version);
    }
    const wanted = importsIn(
      join(unpacked, 'dist', 'cli'),
      /^(?:import|export)\b[^'"\n]*['"]([^.'"][^'"]*)['"];$/gm,
    );
    const foreign = [...wanted].filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
    expect(foreign.filter((name) => !(name in shipped.dependencies))).toEqual([]);
    expect(foreign).toContain('libsql');
  });

  it('runs with these packages alone', () => {
    for (const name of Object.keys(manifestOf(unpacked).dependencies)) {
      const place = join(unpacked, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), place);
    }
    const command = join(unpacked, manifestOf(unpacked).bin.signalbox);
    const run = (...words: string[]) =>
      spawnSync(process.execPath, [command, ...words], {
        cwd: folder,
        env: { PATH: process.env.PATH },
        encoding: 'utf8',
        timeout: 60_000,
      });
    expect(run('--version').stdout.trim().split(' ')).toContain(REPOSITORY.version);
    const made = run('keys', 'create', '--name', 'first', '--data-dir', join(folder, 'data'), '--json');
    expect([made.status, made.stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(made.stdout)).toMatchObject({ key: expect.any(String) });
  }, 120_000);

  it('is installed from the registry and started by one line in an empty folder', async () => {
    const home = join(folder, 'home');
    const place = join(folder, 'empty');
    for (const name of [home, place]) mkdirSync(name);
    const child = spawn('npx', ['--yes', `--package=${packed}`, 'signalbox', '--port', '0'], {
      cwd: place,
      env: {
        PATH: process.env.PATH,
        NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
        HOME: home,
        npm_config_cache: join(folder, 'cache'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // npx starts a shell, which starts the program: all of them get the signal.
      detached: true,
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const text = { out: '', err: '' };
      child.stdout.on('data', (chunk) => {
        text.out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        text.err += chunk;
      });
      await vi.waitFor(() => expect(text.err).toContain('"ready"'), { timeout: 150_000, interval: 200 });
      const ready = text.err.split('\n').find((line) => line.includes('"ready"')) ?? '';
      const { address } = JSON.parse(ready) as { address: string };
      const [, key] = keysIn(text.out);
      const answer = await fetch(`${address}/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'simulator/standard', input: 'Hello' }),
      });
      expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'completed' }]);
      const page = await fetch(new URL('/', address), { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/html'),
      ]);
    } finally {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
  }, 240_000);

  it('is the newest release of the changelog', () => {
    const [, version] = /^## (\d+\.\d+\.\d+), .*\(tag `v\1`\)$/m.exec(
      readFileSync(join(unpacked, 'CHANGELOG.md'), 'utf8'),
    ) ?? ['', 'none'];
    expect(version).toBe(REPOSITORY.version);
  });

  it('is not what npm packs in the repository', () => {
    expect(REPOSITORY.private).toBe(true);
    const { status, stderr } = spawnSync('npm', ['pack', '--silent'], { cwd: ROOT, encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('`npm run package` writes the package');
  });
});

describe('the dependencies of the repository', () => {
  it('are what the program and the console are made of', () => {
    const bundled = readFileSync(join(dirname(dirname(PROGRAM)), 'licences.txt'), 'utf8');
    const inConsole = importsIn(join(ROOT, 'console', 'src'), /from '([^.'][^']*)'/g);
    const { dependencies } = manifestOf(unpacked);
    const isUsed = (name: string) =>
      name in dependencies ||
      inConsole.has(name) ||
      bundled.includes(`\n${name} `) ||
      bundled.startsWith(`${name} `);
    expect(Object.keys(REPOSITORY.dependencies).filter((name) => !isUsed(name))).toEqual([]);
    const development = Object.keys(REPOSITORY.devDependencies);
    expect(development.filter((name) => new RegExp(`^${name} \\d`, 'm').test(bundled))).toEqual([]);
  });
});
