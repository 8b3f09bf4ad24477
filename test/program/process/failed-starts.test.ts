import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { holdDirectory, killHard, PROGRAM, signalbox } from '../../kit/program.ts';
import { run, SmallDisk } from '../worst-hour/small-disk.ts';

let folder: string;
let holder: Server;
let usedPort: number;

beforeAll(async () => {
  holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  usedPort = (holder.address() as { port: number }).port;
});

afterAll(() => {
  holder.close();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-start-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const SECRET = 'sk-sb-v1-secret-of-the-start-test';

/** Starts the gateway, which must fail with one sentence. */
function failedStart(words: readonly string[], env: Record<string, string> = {}): string {
  const { code, err, out } = signalbox(folder, words, { SIGNALBOX_API_KEY: SECRET, ...env });
  return onlySentence(code, out, err);
}

function onlySentence(code: number | null, out: string, err: string): string {
  expect(code).toBe(1);
  expect(out).toBe('');
  const lines = err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines).toHaveLength(1);
  expect(err).not.toMatch(/^\s+at /m);
  expect(err).not.toContain(SECRET);
  return lines[0] ?? '';
}

it('a port in use', () => {
  // Systems other than Linux do not show who has it.
  const holder = process.platform === 'linux' ? `process ${process.pid} \\(.+\\)` : 'another process';
  expect(failedStart(['--port', String(usedPort)])).toMatch(
    new RegExp(
      `^signalbox: port ${usedPort} of 127\\.0\\.0\\.1 is in use by ${holder}; stop it, or choose another port with --port$`,
    ),
  );
});

it('an address that the machine does not have', () => {
  expect(failedStart(['--port', '0', '--host', '192.0.2.1'])).toContain(
    'this machine has no address 192.0.2.1; choose one of its addresses with --host',
  );
});

it('a data directory in use', async () => {
  const dataDir = join(folder, 'data');
  const held = await holdDirectory(dataDir, false);
  try {
    expect(failedStart(['--port', '0'])).toBe(
      `signalbox: the data directory ${dataDir} is in use by another process; stop it, or choose another ` +
        'directory with --data-dir',
    );
  } finally {
    await killHard(held);
  }
});

it('a data directory that is a file', () => {
  writeFileSync(join(folder, 'data'), '');
  expect(failedStart(['--port', '0'])).toMatch(
    /data cannot be used \(\w+\); a file has its name.* or choose another with --data-dir/,
  );
});

it('a data directory on a file system that is mounted read-only', ({ skip }) => {
  const disk = new SmallDisk(1);
  try {
    if (!disk.isThere) skip('mounting a file system needs root');
    run('mount', '-o', 'remount,ro', disk.path);
    expect(failedStart(['--port', '0', '--data-dir', join(disk.path, 'data')])).toMatch(
      /data cannot be \w+ \(EROFS\); /,
    );
  } finally {
    disk.remove();
  }
});

it('a configuration file that does not exist', () => {
  expect(failedStart(['--config', 'none.yaml'])).toContain(
    'none.yaml: does not exist; make it, or name another one with --config',
  );
});

it('an encryption key that cannot be read', () => {
  mkdirSync(join(folder, 'data', 'encryption-key'), { recursive: true });
  expect(failedStart(['--port', '0'])).toContain(
    'data/encryption-key is not a file; put the right file back',
  );
});

it('an encryption key that is none', () => {
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data', 'encryption-key'), 'short\n');
  expect(failedStart(['--port', '0'])).toContain('does not hold a key of 32 bytes; put the right file back');
  const given = 'not-thirty-two-bytes-but-secret';
  const told = failedStart(['--port', '0'], { SIGNALBOX_ENCRYPTION_KEY: given });
  expect(told).toBe('SIGNALBOX_ENCRYPTION_KEY: must be 32 bytes in base64');
});

it('a number of workers that is none', () => {
  expect(failedStart(['--workers', 'many', '--port', String(usedPort)])).toMatch(/^--workers: /);
});

it.skipIf(process.platform !== 'linux')('a worker that ends at its start', () => {
  const preload = join(folder, 'end-workers.cjs');
  writeFileSync(preload, "if (process.channel) process.kill(process.pid, 'SIGKILL');\n");
  expect(failedStart(['--workers', '2', '--port', '0'], { NODE_OPTIONS: `--require ${preload}` })).toMatch(
    /^signalbox: worker [12] ended while it started \(SIGKILL\); if lines above do not say why, give the machine/,
  );
});

/** Rights do not bind root, so the program runs as another user. */
const OTHER_USER = 65534;

it.skipIf(process.getuid?.() !== 0)('wrong rights', () => {
  chmodSync(folder, 0o755);
  const run = (words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, '--port', '0', ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, SIGNALBOX_API_KEY: SECRET },
      encoding: 'utf8',
      uid: OTHER_USER,
      gid: OTHER_USER,
      timeout: 50_000,
    });
    return onlySentence(status, stdout, stderr);
  };
  expect(run([])).toMatch(
    /data cannot be used \(EACCES\); choose another with --data-dir or make it writable for user \d+/,
  );
  const config = join(folder, 'secret.yaml');
  writeFileSync(config, 'vendor: acme\n', { mode: 0o600 });
  expect(run(['--config', config])).toContain(
    'secret.yaml: cannot be read (EACCES); let the user that runs signalbox read it',
  );
  const data = join(folder, 'theirs');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, OTHER_USER, OTHER_USER);
  writeFileSync(join(data, 'encryption-key'), 'x', { mode: 0o600 });
  expect(run(['--data-dir', data])).toMatch(
    /theirs\/encryption-key cannot be read \(EACCES\); give it to the user that runs the gateway/,
  );
});
