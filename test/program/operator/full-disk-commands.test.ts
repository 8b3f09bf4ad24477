import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { lockDirectory, lockForReading } from '../../../src/store/directory/directory-lock.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { typed } from '../../kit/program.ts';
import { run, SmallDisk } from '../worst-hour/small-disk.ts';

const probe = new SmallDisk(1);
const canMount = probe.isThere;
probe.remove();
if (!canMount) process.stderr.write('A full disk is not tested: mounting a small one needs root\n');

let temporary: ReturnType<typeof temporaryDirectory>;
/** The data of a gateway that has been stopped, on a disk with room. */
let roomy: string;
let target: string;

beforeEach(async () => {
  vi.stubEnv('LOG_LEVEL', 'silent');
  temporary = temporaryDirectory();
  roomy = join(temporary.path, 'data');
  target = join(temporary.path, 'backup');
  const installation = await openInstallation({ dataDir: roomy, keyPrefix: 'sk-' });
  await installation.close();
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

/** A small disk for one test. */
let disk: SmallDisk;
const mountDisk = () => {
  disk = new SmallDisk(8);
};
const removeDisk = () => disk.remove();

const DISKS = [
  ['full', () => disk.fill()],
  ['read-only', () => expect(run('mount', '-o', 'remount,ro', disk.path)).toBe(true)],
] as const;

describe.skipIf(!canMount).each(DISKS)('a stopped gateway whose disk is %s', (kind, spoil) => {
  let dataDir: string;

  beforeEach(() => {
    mountDisk();
    dataDir = join(disk.path, 'data');
  });
  afterEach(removeDisk);

  /** Copies the data to the small disk, which nothing is written to from then on. */
  const moveToDisk = () => {
    cpSync(roomy, dataDir, { recursive: true });
    spoil();
  };

  it('is backed up, and nothing is written into it', async () => {
    moveToDisk();
    const before = readdirSync(dataDir);
    const { code, out, err } = await typed(['backup', target, '--data-dir', dataDir]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('The books in it are right');
    expect(readdirSync(dataDir)).toEqual(before);
    expect((await typed(['restore', target, '--data-dir', join(temporary.path, 'restored')])).code).toBe(0);
  });

  it('is backed up with what a killed gateway has left in the write-ahead log', async () => {
    const database = join(roomy, 'signalbox.sqlite');
    const kept = join(temporary.path, 'kept.sqlite');
    const writer = new Database(database);
    writer.exec("insert into installation (name, value) values ('left', 'in the log')");
    // As a kill leaves them: closing the connection writes the log into the database.
    for (const part of ['', '-wal']) copyFileSync(`${database}${part}`, `${kept}${part}`);
    writer.close();
    for (const part of ['', '-wal']) copyFileSync(`${kept}${part}`, `${database}${part}`);
    rmSync(`${database}-shm`, { force: true });
    moveToDisk();
    const { code, err } = await typed(['backup', target, '--data-dir', dataDir]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const copy = new Database(join(target, 'data', 'signalbox.sqlite'));
    const rows = copy.prepare("select value from installation where name = 'left'").all();
    copy.close();
    expect(rows).toEqual([{ value: 'in the log' }]);
    expect(readdirSync(join(target, 'data')).filter((name) => name.includes('draft'))).toEqual([]);
  });

  it('says so, and what to do', async () => {
    moveToDisk();
    const { code, err } = await typed(['keys', 'list', '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(err).toContain(
      kind === 'full' ? 'its disk is full' : 'its disk is read-only; mount it writable or choose another',
    );
    expect(err).toContain(kind === 'full' ? 'make room' : dataDir);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it('is not in use by another process for the doctor', async () => {
    moveToDisk();
    const { out } = await typed(['doctor', '--data-dir', dataDir]);
    expect(out).toContain(`${dataDir} is not writable`);
    expect(out).toContain('the money equation holds');
    expect(out).not.toMatch(/in use|not checked|check failed/);
  });
});

describe.skipIf(!canMount)('a directory that is mounted read-only beside a writable mount', () => {
  let readOnly: string;

  beforeEach(() => {
    mountDisk();
    readOnly = join(temporary.path, 'read-only');
    mkdirSync(readOnly);
    expect(run('mount', '--bind', disk.path, readOnly)).toBe(true);
    expect(run('mount', '-o', 'remount,ro,bind', readOnly)).toBe(true);
  });

  afterEach(() => {
    run('umount', '-l', readOnly);
    removeDisk();
  });

  it('is not read while a process has it for writing, nor the other way round', () => {
    const writer = lockDirectory(disk.path);
    expect(() => lockForReading(readOnly)).toThrow(`${readOnly} is in use by another process`);
    writer.release();
    const reader = lockForReading(readOnly);
    expect(() => lockDirectory(disk.path)).toThrow(`${disk.path} is in use by another process`);
    reader.release();
    lockDirectory(disk.path).release();
  });
});

describe('a backup whose target cannot be used', () => {
  it.skipIf(!canMount).each([
    ['the first file', 0],
    ['the secrets, not for the database', 64 * 1024],
  ])('names it when its disk has no room for more than %s', async (_what, freeBytes) => {
    mountDisk();
    onTestFinished(removeDisk);
    const filling = join(disk.path, 'filling');
    disk.fill();
    truncateSync(filling, statSync(filling).size - freeBytes);
    const place = join(disk.path, 'backup');
    const { code, err } = await typed(['backup', place, '--data-dir', roomy]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^signalbox: the backup cannot be written: the disk of \S+ is full \(\w+\); remove what/,
    );
    expect(err).toContain(`the disk of ${place} is full`);
  });

  it('names it when it is below a file', async () => {
    const file = join(temporary.path, 'file');
    writeFileSync(file, '');
    const place = join(file, 'backup');
    const { code, err } = await typed(['backup', place, '--data-dir', roomy]);
    expect(code).toBe(1);
    expect(err).toBe(
      `signalbox: ${place} cannot be used for the backup (ENOTDIR); a file has its name, or that of a folder above ` +
        'it; name another directory\n',
    );
  });
});
