import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AppRegistry, AppSighting } from '../../../src/ports/events/apps.ts';

/** An adapter under test, and how to close it. */
export interface AppRegistryUnderTest {
  readonly apps: AppRegistry;
  /** Another one on the same apps: that of a second gateway. */
  readonly others: AppRegistry;
  close(): Promise<void>;
}

const sighting = (host: string, more: Partial<AppSighting> = {}): AppSighting => ({
  host,
  url: `https://${host}/`,
  title: null,
  categories: [],
  atMs: 1_000,
  ...more,
});

/** Apps that may be looked up within one turn of the event loop. */
const MAX_APPS_PER_TURN = 300;

/** How often the event loop turned while something was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

const CATEGORIES = ['game', 'legal', 'roleplay', 'cli-agent', 'image-gen', 'video-gen'];

/** What every AppRegistry must do. `open` gives an empty one each time. */
export function appRegistryContract(name: string, open: () => Promise<AppRegistryUnderTest>): void {
  describe(`AppRegistry: ${name}`, () => {
    let under: AppRegistryUnderTest;
    let apps: AppRegistry;

    beforeEach(async () => {
      under = await open();
      ({ apps } = under);
    });

    afterEach(() => under.close());

    const appOf = async (host: string) => (await apps.ofHosts([host]))[0];

    it('makes apps in their order, once each', async () => {
      await apps.note([sighting('b.example', { url: 'https://b.example/x' }), sighting('a.example')]);
      await apps.note([sighting('a.example', { url: 'https://a.example/later' }), sighting('c.example:81')]);
      const all = await apps.ofHosts(['a.example', 'b.example', 'c.example:81', 'd.example']);
      expect([...all].sort((one, other) => one.id - other.id)).toEqual([
        { id: 1, host: 'b.example', url: 'https://b.example/x', title: null, categories: [] },
        { id: 2, host: 'a.example', url: 'https://a.example/', title: null, categories: [] },
        { id: 3, host: 'c.example:81', url: 'https://c.example:81/', title: null, categories: [] },
      ]);
      expect(await apps.ofIds([4, 3, 10 ** 15])).toEqual([await appOf('c.example:81')]);
      expect(await apps.idsOf(['a.example', 'd.example', 'b.example'])).toEqual(
        new Map([
          ['b.example', 1],
          ['a.example', 2],
        ]),
      );
      expect(await apps.count()).toBe(3);
    });

    it('keeps every character', async () => {
      const title = `Robert'); DROP TABLE apps;-- "\u{1F4C4}"`;
      await apps.note([sighting('a.example', { title })]);
      expect((await appOf('a.example'))?.title).toBe(title);
    });

    it('renames by the latest title, and by none', async () => {
      const minute = 60_000;
      for (const [title, atMs, then] of [
        [null, 1, null],
        ['First', 2 * minute, 'First'],
        ['Before', minute, 'First'],
        ['Second', 3 * minute, 'Second'],
        [null, 9 * minute, 'Second'],
        ['Second', 6 * minute, 'Second'],
        ['Between', 5 * minute, 'Second'],
        ['First', 7 * minute, 'First'],
      ] as const) {
        await apps.note([sighting('a.example', { title, atMs })]);
        expect((await appOf('a.example'))?.title).toBe(then);
      }
    });

    it('adds categories in the order of their first naming, ten at most', async () => {
      await apps.note([sighting('a.example', { categories: ['game', 'legal'] })]);
      await apps.note([
        sighting('a.example', { categories: ['roleplay', 'game'] }),
        sighting('a.example', { categories: ['image-gen'] }),
      ]);
      expect((await appOf('a.example'))?.categories).toEqual(['game', 'legal', 'roleplay', 'image-gen']);
      const many = Array.from({ length: 12 }, (_, index) => `c-${index}`);
      await apps.note([sighting('a.example', { categories: many })]);
      const ten = ['game', 'legal', 'roleplay', 'image-gen', ...many.slice(0, 6)];
      expect((await appOf('a.example'))?.categories).toEqual(ten);
    });

    it('finds hosts by any of several categories', async () => {
      await apps.note([
        sighting('a.example', { categories: ['game', 'legal'] }),
        sighting('b.example', { categories: ['legal'] }),
        sighting('c.example', { categories: ['roleplay'] }),
        sighting('d.example'),
      ]);
      expect(await apps.hostsOfCategories(['game', 'legal'])).toEqual(new Set(['a.example', 'b.example']));
      expect(await apps.hostsOfCategories(['image-gen'])).toEqual(new Set());
      expect(await apps.hostsOfCategories([])).toEqual(new Set());
      expect(await apps.ofHosts([])).toEqual([]);
      expect(await apps.ofIds([])).toEqual([]);
      expect(await apps.idsOf([])).toEqual(new Map());
    });

    it('is the same after the same sightings again', async () => {
      const sightings = [
        sighting('a.example', { title: 'A', atMs: 5, categories: ['game'] }),
        sighting('a.example', { title: 'B', atMs: 5, categories: ['legal'] }),
        sighting('b.example', { title: 'C', atMs: 9 }),
      ];
      const all = () => apps.ofHosts(['a.example', 'b.example']);
      await apps.note(sightings);
      const before = await all();
      await apps.note(sightings);
      expect(await all()).toEqual(before);
      expect(before.map(({ title }) => title).sort()).toEqual(['A', 'C']);
    });

    it('takes more apps at once than a statement has room for', async () => {
      const hosts = Array.from({ length: 2_100 }, (_, index) => `app-${index}.example`);
      await apps.note(
        hosts.map((host, index) => sighting(host, { categories: CATEGORIES.slice(index % 6) })),
      );
      expect(await apps.count()).toBe(2_100);
      const ids = hosts.map((_, index) => index + 1);
      expect(await apps.ofHosts(hosts)).toHaveLength(2_100);
      expect((await apps.ofIds(ids)).map(({ id }) => id).sort((one, other) => one - other)).toEqual(ids);
      expect(await apps.idsOf(hosts)).toEqual(new Map(hosts.map((host, index) => [host, index + 1])));
      expect((await apps.hostsOfCategories(['game'])).size).toBe(350);
      expect((await apps.hostsOfCategories(['legal', 'video-gen'])).size).toBe(2_100);
      expect((await appOf('app-2099.example'))?.id).toBe(2_100);
    });

    it.each([
      ['ofHosts', (hosts: readonly string[]) => apps.ofHosts(hosts)],
      ['idsOf', (hosts: readonly string[]) => apps.idsOf(hosts)],
      ['ofIds', (hosts: readonly string[]) => apps.ofIds(hosts.map((_, index) => index + 1))],
      ['hostsOfCategories', () => apps.hostsOfCategories(['game'])],
    ])('yields while many are looked up: %s', async (_, lookUp) => {
      const hosts = Array.from({ length: 3_000 }, (_, index) => `app-${index}.example`);
      await apps.note(hosts.map((host) => sighting(host, { categories: ['game'] })));
      expect(await turnsDuring(() => lookUp(hosts))).toBeGreaterThanOrEqual(
        hosts.length / MAX_APPS_PER_TURN - 1,
      );
    });

    it('gives one id to an app that several note at once', async () => {
      const hosts = Array.from({ length: 12 }, (_, index) => `app-${index}.example`);
      await Promise.all(
        hosts.map((host, index) =>
          (index % 2 === 0 ? apps : under.others).note([
            sighting(host, { categories: ['game'] }),
            sighting('everywhere.example', { categories: [CATEGORIES[index % 6] ?? ''] }),
          ]),
        ),
      );
      const all = await apps.ofHosts([...hosts, 'everywhere.example']);
      const ids = all.map(({ id }) => id).sort((one, other) => one - other);
      expect(ids).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
      expect([...((await appOf('everywhere.example'))?.categories ?? [])].sort()).toEqual(
        [...CATEGORIES].sort(),
      );
    });
  });
}
