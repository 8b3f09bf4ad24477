import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/adapters/contracts/temporary-directory.ts';
import { ImportFolder } from './import-folder.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let folder: ImportFolder;

beforeEach(() => {
  temporary = temporaryDirectory();
  folder = new ImportFolder(temporary.path);
});

afterEach(() => temporary.remove());

const NOW_MS = Date.now();
const DAY_MS = 86_400_000;

it('creates a directory that other users cannot read, and finds its file by name', () => {
  const place = folder.open();
  expect(folder.fileOf(place.name)).toBeUndefined();
  writeFileSync(place.file, 'events');
  expect(folder.fileOf(place.name)).toBe(place.file);
  for (const path of [join(temporary.path, 'imports'), join(temporary.path, 'imports', place.name)]) {
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
  place.share();
  place.remove();
  place.remove();
  expect(folder.fileOf(place.name)).toBeUndefined();
});

it('finds nothing outside, and no directory', () => {
  const place = folder.open();
  mkdirSync(place.file);
  writeFileSync(join(temporary.path, 'events.duckdb'), 'the store');
  for (const name of ['', '.', '..', '../', `../imports/${place.name}`, `${place.name}/`, place.name]) {
    expect(folder.fileOf(name)).toBeUndefined();
  }
});

it('removes folders that are a day old, even if a process has their pid, and no other files', () => {
  folder.removeLeftovers(NOW_MS);
  expect(existsSync(join(temporary.path, 'imports'))).toBe(false);
  const [young, old] = [folder.open(), folder.open()];
  const past = (NOW_MS - DAY_MS - 1_000) / 1_000;
  mkdirSync(join(temporary.path, 'imports', 'mine'));
  for (const name of ['mine', old.name]) utimesSync(join(temporary.path, 'imports', name), past, past);
  folder.removeLeftovers(NOW_MS);
  expect(readdirSync(join(temporary.path, 'imports')).toSorted()).toEqual([young.name, 'mine'].toSorted());
});
