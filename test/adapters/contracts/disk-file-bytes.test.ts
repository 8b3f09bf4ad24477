import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDiskFileBytes } from '../../../src/store/files/disk-file-bytes.ts';
import { fileBytesContract } from './file-bytes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

async function open() {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'files');
  const reopen = () => openDiskFileBytes(path);
  return { path, bytes: await reopen(), reopen, close: async () => directory.remove() };
}

fileBytesContract('a directory', open);

it('is private to its user, and leaves no name behind after a crash', async () => {
  const under = await open();
  const whole = await under.bytes.receive(`file_${'a'.repeat(24)}`);
  await whole.keep();
  const half = await under.bytes.receive(`file_${'b'.repeat(24)}`);
  expect(statSync(under.path).mode & 0o777).toBe(0o700);
  const names = readdirSync(under.path);
  expect(names).toHaveLength(2);
  for (const name of names) expect(statSync(join(under.path, name)).mode & 0o777).toBe(0o600);
  await under.reopen();
  expect(readdirSync(under.path)).toEqual([`file_${'a'.repeat(24)}`]);
  await half.discard();
  await under.close();
});
