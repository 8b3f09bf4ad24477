import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectoryProblem, openDataDirectory } from '../../src/store/data-directory.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';

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
    expect(second.encryptionKey).toEqual(first.encryptionKey);
    expect(first.hashKey).not.toEqual(first.encryptionKey);
  });

  it('uses a given encryption key and writes none', () => {
    const given = Buffer.alloc(32, 7);
    const directory = openDataDirectory(temporary.path, given.toString('base64'));
    directory.close();
    expect(directory.encryptionKey).toEqual(given);
    expect(() => readFileSync(join(temporary.path, 'encryption-key'))).toThrow('ENOENT');
  });

  it('lets nobody else in until it is closed', () => {
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
});
