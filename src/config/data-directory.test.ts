import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/adapters/contracts/temporary-directory.ts';
import { defaultDataDirectory, isInstalledProgram } from './data-directory.ts';

describe('defaultDataDirectory', () => {
  const env = { HOME: '/home/ada' };

  it('is beside the program in a clone', () => {
    expect(defaultDataDirectory({ env, cwd: '/srv/signalbox', isInstalled: false })).toBe(
      '/srv/signalbox/data',
    );
  });

  it('is the directory of the user for data in an installed program', () => {
    const inPlace = (more: object) =>
      defaultDataDirectory({ env: { ...env, ...more }, cwd: '/srv', isInstalled: true });
    expect(inPlace({})).toBe('/home/ada/.local/share/signalbox');
    expect(inPlace({ XDG_DATA_HOME: '/data/ada' })).toBe('/data/ada/signalbox');
    expect(inPlace({ XDG_DATA_HOME: 'relative' })).toBe('/home/ada/.local/share/signalbox');
  });

  it('stays where an earlier start has put it', () => {
    const { path: cwd, remove } = temporaryDirectory();
    mkdirSync(join(cwd, 'data'));
    expect(defaultDataDirectory({ env, cwd, isInstalled: true })).toBe('/home/ada/.local/share/signalbox');
    writeFileSync(join(cwd, 'data', 'hash-key'), '');
    expect(defaultDataDirectory({ env, cwd, isInstalled: true })).toBe(join(cwd, 'data'));
    remove();
  });
});

describe('isInstalledProgram', () => {
  const clone = 'file:///srv/signalbox/dist/cli/signalbox.js';

  it.each([
    [clone, '/srv/signalbox/dist/cli/signalbox.js', false],
    [clone, '/srv/signalbox/scripts/start.mjs', false],
    [clone, '/home/ada/.npm/_npx/1a2b/node_modules/.bin/signalbox', false],
    [clone, '/usr/local/bin/signalbox', true],
    ['file:///usr/lib/node_modules/@a/signalbox/dist/cli/signalbox.js', '/usr/bin/signalbox', true],
  ])('of %s, started as %s, is %s', (module, typed, isInstalled) => {
    expect(isInstalledProgram(module, typed)).toBe(isInstalled);
  });
});
