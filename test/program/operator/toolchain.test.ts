import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

interface Lock {
  packages: Record<string, { version?: string; integrity?: string; optional?: boolean; libc?: string[] }>;
}

const { isInstalled } = (await import(join(ROOT, 'scripts/toolchain.mjs'))) as {
  isInstalled(wanted: Lock, installed: Lock, machine?: { os: string; cpu: string }): boolean;
};

const read = (path: string): Lock => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

it('what npm itself has installed is not installed again', () => {
  expect(isInstalled(read('package-lock.json'), read('node_modules/.package-lock.json'))).toBe(true);
});

it('a package that is missing, old or for another machine is installed', () => {
  const LINUX = { os: 'linux', cpu: 'x64' };
  const entry = { version: '1.0.0', integrity: 'sha512-a' };
  const build = { ...entry, optional: true, os: ['linux'], cpu: ['x64'] };
  const wanted = { packages: { '': {}, 'node_modules/a': entry, 'node_modules/a-linux': build } };
  const having = (packages: Lock['packages']) => isInstalled(wanted, { packages }, LINUX);
  expect(having({ 'node_modules/a': entry, 'node_modules/a-linux': build })).toBe(true);
  expect(having({ 'node_modules/a': entry })).toBe(false);
  expect(having({ 'node_modules/a-linux': build })).toBe(false);
  expect(having({ 'node_modules/a': { ...entry, version: '0.9.0' }, 'node_modules/a-linux': build })).toBe(
    false,
  );
  expect(
    having({ 'node_modules/a': { ...entry, integrity: 'sha512-b' }, 'node_modules/a-linux': build }),
  ).toBe(false);
  const onMac = isInstalled(wanted, { packages: { 'node_modules/a': entry } }, { os: 'darwin', cpu: 'x64' });
  expect(onMac).toBe(true);
});
