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

/** stdout belongs to the program that is being started. */
const QUIETLY = { stdio: ['ignore', 2, 2] };

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
  // npm writes this file at the end of every installation.
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && isInstalled(readLock(join(root, 'package-lock.json')), readLock(installed)))
    return;
  console.error('signalbox: installing dependencies (only needed once)');
  // With what builds it, also where NODE_ENV says production.
  run('npm', ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    ...QUIETLY,
    shell: process.platform === 'win32',
  });
}

function readLock(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Whether an installation has every package of a lock file that `machine` needs, in its version. */
export function isInstalled(wanted, installed, machine = { os: process.platform, cpu: process.arch }) {
  return Object.entries(wanted.packages).every(([place, entry]) => {
    if (place === '' || !isNeeded(entry, machine)) return true;
    const found = installed.packages[place];
    return found !== undefined && found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** Optional packages are builds for one kind of machine. Which libc this one has is left to npm. */
function isNeeded({ optional, os, cpu, libc }, machine) {
  if (optional !== true) return true;
  return os?.includes(machine.os) === true && cpu?.includes(machine.cpu) === true && libc === undefined;
}

const BUNDLER = ['bundle', 'bundled-licences', 'installed-packages'].map((name) => `scripts/${name}.mjs`);

/** The program as it ships, in `dist`. */
export function buildIfNeeded() {
  const sources = ['package-lock.json', ...BUNDLER, ...filesUnder('src')];
  makeIfNeeded('dist', 'building', sources, () => {
    run(process.execPath, ['scripts/bundle.mjs'], QUIETLY);
    copyData('dist');
  });
  buildConsoleIfNeeded();
}

/** The console, in `dist/console`. */
export function buildConsoleIfNeeded() {
  const sources = ['package-lock.json', ...filesUnder('console'), ...filesUnder('src/contract')];
  makeIfNeeded('dist/console', 'building the console', sources, () => {
    runTool('vite/bin/vite.js', ['build', 'console', '--logLevel', 'warn'], QUIETLY);
  });
}

/** Every module by itself, in `build`: for tests and for `dev`. Types are not checked. */
export function compileIfNeeded() {
  const sources = ['tsconfig.json', 'tsconfig.build.json', ...filesUnder('src')];
  makeIfNeeded('build', 'compiling', sources, () => {
    // `npm run check` checks types: here that would take seven times as long.
    runTool('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--noCheck'], QUIETLY);
    copyData('build');
  });
}

function makeIfNeeded(folder, doing, sources, make) {
  const stamp = join(root, folder, '.signalbox-build');
  const digest = digestOf(sources);
  if (stampMatches(stamp, digest)) return;
  console.error(`signalbox: ${doing}`);
  emptyFolder(join(root, folder));
  make();
  writeFileSync(stamp, digest);
}

/** Empties a folder, but for the console inside it, which has sources of its own. */
function emptyFolder(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (name !== 'console') rmSync(join(folder, name), { recursive: true });
  }
}

/** Data: no compiler takes it along. */
function copyData(folder) {
  for (const path of ['catalog/shipped', 'http/examples.json']) {
    cpSync(join(root, 'src', path), join(root, folder, path), { recursive: true });
  }
}
