import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairPlaces } from './fair-places.ts';

/** Work that runs until the test ends it, and the names of all work that has begun. */
function workshop(places: FairPlaces) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    begin: (name: string, signal?: AbortSignal) =>
      places.within(name.charAt(0), signal, () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      }),
    async end(name: string) {
      ends.get(name)?.();
      await turn();
    },
  };
}

test('no key holds more places than it may, and other keys pass those that wait for more', async () => {
  const { begun, begin, end } = workshop(new FairPlaces(2, 1));
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => begin(name));
  await turn();
  expect(begun).toEqual(['a1', 'b1']);
  await end('b1');
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  await end('c1');
  await end('a2');
  await end('a3');
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});

test('who leaves before there is a place never comes in, and takes none from others', async () => {
  const { begun, begin, end } = workshop(new FairPlaces(1, 1));
  const leaving = new AbortController();
  const first = begin('a1');
  const gone = begin('b1', leaving.signal);
  const next = begin('c1');
  leaving.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  await expect(begin('d1', leaving.signal)).rejects.toThrow('gone');
  await end('a1');
  await end('c1');
  await Promise.all([first, next]);
  expect(begun).toEqual(['a1', 'c1']);
});

test('members of a group take turns, however much work one of them has', async () => {
  const places = new FairPlaces(3, 2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string) =>
    places.within({ group: 'account', member: name.charAt(0) }, undefined, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(begin);
  await turn();
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) {
    ends.get(name)?.();
    await turn();
  }
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('work that fails gives its place back', async () => {
  const places = new FairPlaces(1, 1);
  await expect(places.within('a', undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await places.within('a', undefined, async () => 'yes')).toBe('yes');
});
