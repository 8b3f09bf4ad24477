import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { openDataDirectory } from '../../../src/store/directory/data-directory.ts';
import { DataDirectoryProblem } from '../../../src/store/directory/data-directory-problem.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

let temporary: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  temporary = temporaryDirectory();
});

afterEach(() => temporary.remove());

describe('openDataDirectory', () => {
  it('keeps its keys from one opening to the next', () => {
    const first = openDataDirectory(temporary.path);
    first.close();
    const second = openDataDirectory(temporary.path);
    second.close();
    expect(second.hashKey).toEqual(first.hashKey);
    expect(second.encryptionKeys.key).toEqual(first.encryptionKeys.key);
    expect(first.hashKey).not.toEqual(first.encryptionKeys.key);
  });

  it('uses a given encryption key and writes none', () => {
    const given = Buffer.alloc(32, 7);
    const directory = openDataDirectory(temporary.path, given.toString('base64'));
    directory.close();
    expect(directory.encryptionKeys.key).toEqual(given);
    expect(() => readFileSync(join(temporary.path, 'encryption-key'))).toThrow('ENOENT');
  });

  it('is locked for others until it is closed', () => {
    const first = openDataDirectory(temporary.path);
    let reason: unknown;
    try {
      openDataDirectory(temporary.path);
    } catch (error) {
      reason = error;
    }
    expect(reason).toBeInstanceOf(DataDirectoryProblem);
    expect((reason as DataDirectoryProblem).inUse).toBe(true);
    expect((reason as Error).message).toContain(`${temporary.path} is in use by another process`);
    first.close();
    first.close();
    openDataDirectory(temporary.path).close();
  });

  it('says which directory cannot be used, and which key file is broken', () => {
    const file = join(temporary.path, 'file');
    writeFileSync(file, '');
    expect(() => openDataDirectory(join(file, 'data'))).toThrow(
      `${join(file, 'data')} cannot be used (ENOTDIR)`,
    );
    const directory = join(temporary.path, 'd');
    mkdirSync(directory);
    writeFileSync(join(directory, 'hash-key'), 'short');
    expect(() => openDataDirectory(directory)).toThrow('hash-key does not hold a key of 32 bytes');
    writeFileSync(join(directory, 'hash-key'), Buffer.alloc(32));
    openDataDirectory(directory).close();
  });

  it('makes parents, all of them for their owner alone', () => {
    const directory = openDataDirectory(join(temporary.path, 'a/b/c'));
    directory.close();
    expect(directory.warnings).toEqual([]);
    for (const made of ['a', 'a/b', 'a/b/c']) {
      expect(statSync(join(temporary.path, made)).mode & 0o777).toBe(0o700);
    }
  });

  it('gives up at once where no directory can be made', () => {
    expect(() => openDataDirectory('/proc/nope/data')).toThrow(
      /^the data directory \/proc\/nope\/data cannot be used \(E/,
    );
    const link = join(temporary.path, 'link');
    symlinkSync(join(temporary.path, 'nowhere'), link);
    expect(() => openDataDirectory(link)).toThrow(`${link} cannot be used (ENOENT)`);
  });

  it('warns of a directory that others may enter, and leaves it as it is', () => {
    const path = join(temporary.path, 'open');
    mkdirSync(path);
    chmodSync(path, 0o750);
    const directory = openDataDirectory(path);
    directory.close();
    expect(directory.warnings).toEqual([
      `the data directory ${path} is open to other users (mode 0750); close it with chmod 700 ${path}`,
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  it('names a damaged lock file', () => {
    writeFileSync(join(temporary.path, 'lock'), 'x'.repeat(8192));
    expect(() => openDataDirectory(temporary.path)).toThrow(
      `${join(temporary.path, 'lock')} is not a lock file`,
    );
  });
});

/** A database of some other program, all of it overwritten from `first` on. */
function spoiltDatabase(file: string, first: number): Buffer {
  const database = new Database(file);
  database.exec('CREATE TABLE things (id TEXT)');
  database.close();
  return readFileSync(file).fill(7, first);
}

describe('openInstallation', () => {
  it.each([
    ['is no database', 0],
    ['is damaged', 100],
  ])('says what to do about a file that %s, and unlocks the directory', async (_what, first) => {
    const dataDir = join(temporary.path, 'data');
    const file = join(dataDir, 'signalbox.sqlite');
    mkdirSync(dataDir);
    writeFileSync(file, spoiltDatabase(join(temporary.path, 'other.sqlite'), first));
    const reason = await openInstallation({ dataDir, keyPrefix: 'sk-' }).catch((error: unknown) => error);
    expect(reason).toBeInstanceOf(DataDirectoryProblem);
    expect((reason as Error).message).toMatch(/ is damaged or is not a database \(SQLITE_.*backup.*move it/);
    expect((reason as Error).message).toContain(file);
    for (const name of readdirSync(dataDir)) if (name.startsWith('signalbox.')) rmSync(join(dataDir, name));
    await (await openInstallation({ dataDir, keyPrefix: 'sk-' })).close();
  });
});
