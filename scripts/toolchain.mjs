// Installs and builds when, and only when, something they depend on has changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a program to its end and stops this one with its exit code when it fails. */
export function run(program, args, options = {}) {
  const done = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) throw done.error;
  if (done.status !== 0) process.exit(done.status ?? 1);
}

/** Runs a program of node_modules with this Node. */
export function runTool(entry, args, options) {
  run(process.execPath, [join(root, 'node_modules', entry), ...args], options);
}

function digestOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
  return hash.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(join(root, path)).isFile() && !path.endsWith('.test.ts'))
    .sort();
}

function stampMatches(stamp, digest) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
}

export function installIfNeeded() {
  const stamp = join(root, 'node_modules', '.signalbox-install');
  const digest = digestOf(['package-lock.json']) + process.version;
  if (stampMatches(stamp, digest)) return;
  console.error('signalbox: installing dependencies (only needed once)');
  // npm's own progress goes to stderr: stdout belongs to the program that is being started.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  writeFileSync(stamp, digest);
}

export function buildIfNeeded() {
  const stamp = join(root, 'dist', '.signalbox-build');
  const digest = digestOf(['tsconfig.json', 'tsconfig.build.json', ...filesUnder('src')]);
  if (stampMatches(stamp, digest)) return;
  console.error('signalbox: building');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  runTool('typescript/bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: ['ignore', 2, 2] });
  // Data: the compiler leaves them alone.
  cpSync(join(root, 'src/catalog/shipped'), join(root, 'dist/catalog/shipped'), { recursive: true });
  writeFileSync(stamp, digest);
}
