// `npm run test:types`: what becomes of everything that the published types of the official SDKs allow. Their packages
// are unpacked, never installed: only type declarations are read, and nothing of them runs.
//
//   npm run test:types                          the pinned versions; fails if docs/guide/translation-current*.md differ
//   npm run test:types -- --write               writes the pages
//   npm run test:types -- --newest              the newest published versions, compared with the same page
//   npm run test:types -- --newest --write      pins them and writes the pages
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildIfNeeded, compileIfNeeded, installIfNeeded, root, run, runTool } from './toolchain.mjs';

const PINS = join(root, 'test/laws/types/versions.json');
/** Unpacked packages, by name and version. npm removes the folder when it installs from the lockfile. */
const CACHE = join(root, 'node_modules/.cache/signalbox-types');

const given = new Set(process.argv.slice(2));
const isNewest = given.delete('--newest');
const isWriting = given.delete('--write');
if (given.size > 0) {
  console.error(`signalbox: unknown argument ${[...given].join(' ')}; there are --newest and --write`);
  process.exit(2);
}

installIfNeeded();
buildIfNeeded();
compileIfNeeded();

const pins = JSON.parse(readFileSync(PINS, 'utf8'));
const used = Object.fromEntries(
  Object.entries(pins).map(([name, pin]) => [name, isNewest ? published(`${name}@latest`) : pin]),
);
const folders = Object.entries(used).map(([name, pin]) => [name, unpacked(name, pin)]);
if (isNewest && isWriting) writeFileSync(PINS, `${JSON.stringify(used, null, 2)}\n`);

process.env.SIGNALBOX_COMPILED = '1';
process.env.SIGNALBOX_TYPES = JSON.stringify(Object.fromEntries(folders));
runTool('vitest/vitest.mjs', ['run', '--project', 'types', ...(isWriting ? ['--update'] : [])]);

/** Version and checksum of a package in the registry. */
function published(spec) {
  const { version, 'dist.integrity': integrity } = JSON.parse(
    npm(['view', spec, 'version', 'dist.integrity', '--json']),
  );
  return { version, integrity };
}

/** The folder with the type declarations of a package, fetched if this version is not there yet. */
function unpacked(name, { version, integrity }) {
  const folder = join(CACHE, `${name.replace('/', '+')}@${version}`);
  if (existsSync(folder)) return folder;
  console.error(`signalbox: fetching the types of ${name} ${version}`);
  const scratch = mkdtempSync(join(tmpdir(), 'signalbox-types-'));
  try {
    npm(['pack', `${name}@${version}`, '--ignore-scripts', '--silent', '--pack-destination', scratch]);
    const [archive] = readdirSync(scratch);
    const digest = createHash('sha512')
      .update(readFileSync(join(scratch, archive)))
      .digest('base64');
    if (integrity !== `sha512-${digest}`) throw new Error(`${name} ${version} is not what was pinned`);
    run('tar', ['-xzf', join(scratch, archive), '-C', scratch], { cwd: scratch });
    const content = readdirSync(scratch).find((entry) => entry !== archive);
    keepTypes(join(scratch, content));
    mkdirSync(dirname(folder), { recursive: true });
    rename(join(scratch, content), folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** Removes everything but declarations and the manifest: a hundred megabytes become fifteen. */
function keepTypes(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) keepTypes(path);
    else if (!entry.name.endsWith('.d.ts') && entry.name !== 'package.json') rmSync(path);
  }
}

/** Across file systems too: temporary folders are often in memory. */
function rename(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== 'EXDEV') throw error;
    run('cp', ['-R', from, to]);
  }
}

function npm(args) {
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd: tmpdir(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) {
    console.error(stderr);
    throw new Error(`npm ${args.join(' ')} failed`);
  }
  return stdout;
}
