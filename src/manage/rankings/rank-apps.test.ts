import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../kit/loop/turns.ts';
import type { App } from '../../ports/events/apps.ts';
import type { AppTotals } from '../../ports/events/events.ts';
import { leadersOf, type RankingInput, type RankingSources, rankApps } from './rank-apps.ts';

/** Tokens of apps by window, as a gateway gets them. */
function totalsOf(apps: Readonly<Record<string, readonly (number | bigint)[]>>): AppTotals {
  const rows = Object.values(apps);
  const columns = (rows[0] ?? []).map((_, window) => rows.map((tokens) => tokens[window] ?? 0));
  return {
    apps: Object.keys(apps),
    tokens: columns,
    requests: columns.map((column) => new Float64Array(column.length).fill(2)),
  };
}

const app = (id: number, host: string, title: string | null = null): App => ({
  id,
  host,
  url: `https://${host}/`,
  title,
  categories: [],
});

function input(
  apps: Readonly<Record<string, readonly (number | bigint)[]>>,
  more: Partial<RankingInput> = {},
): RankingInput {
  return { totals: totalsOf(apps), sort: 'popular', isRanked: () => true, ...more };
}

const signal = new AbortController().signal;

function registryOf(apps: readonly App[]): RankingSources {
  const ofHosts = async (hosts: readonly string[]) => apps.filter(({ host }) => hosts.includes(host));
  const idsOf = async (hosts: readonly string[]) =>
    new Map((await ofHosts(hosts)).map(({ host, id }) => [host, id]));
  return { apps: { ofHosts, idsOf }, signal };
}

/** The hosts of leaders, in the order of the totals. */
function leaders(asked: RankingInput, count: number, below?: bigint): readonly string[] {
  const found = runAtOnce(leadersOf(asked, count, below));
  return found?.places.map((place) => asked.totals.apps[place] ?? '') ?? [];
}

/** The same numbers in every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

describe('leadersOf', () => {
  it('finds the apps with the most tokens, and none without tokens', () => {
    const asked = input({ a: [1], b: [0], c: [5], d: [3] });
    expect(leaders(asked, 1)).toEqual(['c']);
    expect(leaders(asked, 2)).toEqual(['c', 'd']);
    expect(leaders(asked, 9)).toEqual(['a', 'c', 'd']);
    expect(leaders(input({ a: [0] }), 9)).toEqual([]);
  });

  it('finds all that are equal to the last one, and those below a bound', () => {
    const asked = input({ a: [1], b: [2], c: [2], d: [3] });
    expect(leaders(asked, 2)).toEqual(['b', 'c', 'd']);
    expect(leaders(asked, 1, 3n)).toEqual(['b', 'c']);
    expect(leaders(asked, 1, 1n)).toEqual([]);
  });

  it('computes growth exactly, and leaves out apps that do not grow', () => {
    const asked = input(
      {
        mean: [2, 6],
        'a third more': [2, 5],
        'two thirds more': [2, 4],
        new: [1, 0],
        less: [9, 30],
      },
      { sort: 'trending' },
    );
    expect(leaders(asked, 1)).toEqual(['new']);
    expect(leaders(asked, 2)).toEqual(['two thirds more', 'new']);
    expect(leaders(asked, 9)).toEqual(['a third more', 'two thirds more', 'new']);
  });

  it('distinguishes numbers that are larger than a double holds', () => {
    expect(leaders(input({ one: [2n ** 60n], more: [2n ** 60n + 1n] }), 1)).toEqual(['more']);
    const most = Number.MAX_SAFE_INTEGER;
    const asked = input({ one: [most, 1], more: [most, 0] }, { sort: 'trending' });
    expect(leaders(asked, 1)).toEqual(['more']);
  });

  it('leaves out apps that are not ranked', () => {
    const asked = input({ a: [1], b: [2] }, { isRanked: (host) => host !== 'b' });
    expect(leaders(asked, 1)).toEqual(['a']);
  });

  it('is done in slices, a thousand apps in each', () => {
    const count = 20_000;
    const column = new Float64Array(count).fill(7);
    const totals = {
      apps: Array.from({ length: count }, (_, index) => `app-${index}`),
      tokens: [column],
      requests: [column],
    };
    let visited = 0;
    const isRanked = () => {
      visited += 1;
      return true;
    };
    const work = leadersOf({ totals, sort: 'popular', isRanked }, 200);
    let slices = 0;
    for (let isDone = false; !isDone; slices++) {
      visited = 0;
      isDone = work.next().done === true;
      expect(visited).toBeLessThanOrEqual(1_500);
    }
    expect(slices).toBeGreaterThan((2 * count) / 1_500);
  });
});

describe('rankApps', () => {
  const page = { offset: 0, limit: 10 };

  it('names apps by title, else by host, and orders equal ones by id', async () => {
    const asked = input({ a: [7], b: [7], c: [9] });
    const registry = registryOf([app(3, 'a'), app(2, 'b', 'B'), app(5, 'c', 'C')]);
    const all = [
      { id: 5, name: 'C', rank: 1, tokens: 9n, requests: 2n },
      { id: 2, name: 'B', rank: 2, tokens: 7n, requests: 2n },
      { id: 3, name: 'a', rank: 3, tokens: 7n, requests: 2n },
    ];
    expect(await rankApps(asked, page, registry)).toEqual(all);
    expect(await rankApps(asked, { offset: 1, limit: 1 }, registry)).toEqual(all.slice(1, 2));
    expect(await rankApps(asked, { offset: 3, limit: 1 }, registry)).toEqual([]);
  });

  it('looks up no more than it takes', async () => {
    const apps = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`app-${index}`, [index] as const]),
    );
    const looks = { ids: 0, apps: 0 };
    const registry: RankingSources['apps'] = {
      idsOf: async (hosts) => {
        looks.ids += hosts.length;
        return new Map(hosts.map((host, index) => [host, index + 1]));
      },
      ofHosts: async (hosts) => {
        looks.apps += hosts.length;
        return [];
      },
    };
    await rankApps(input(apps), { offset: 6, limit: 4 }, { apps: registry, signal });
    expect(looks).toEqual({ ids: 10, apps: 4 });
  });

  it('yields while it looks up thousands of equal apps, a few at a time', async () => {
    const count = 5_000;
    const apps = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`app-${index}`, [7] as const]),
    );
    let turns = 0;
    let looks = 0;
    const registry: RankingSources['apps'] = {
      idsOf: async (hosts) => {
        expect(hosts.length).toBeLessThanOrEqual(300);
        // A look in the same turn as the last one would find the count of turns behind.
        expect(turns).toBe(looks);
        looks += 1;
        setImmediate(() => {
          turns += 1;
        });
        return new Map(hosts.map((host) => [host, count - Number(host.slice(4))]));
      },
      ofHosts: async () => [],
    };
    const ranked = await rankApps(input(apps), { offset: 100, limit: 2 }, { apps: registry, signal });
    expect(looks).toBeGreaterThanOrEqual(count / 300);
    expect(ranked.map(({ id, name, rank }) => [id, name, rank])).toEqual([
      [101, 'app-4899', 101],
      [102, 'app-4898', 102],
    ]);
  });

  it('ends with its signal', async () => {
    const apps = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`app-${index}`, [7] as const]),
    );
    const controller = new AbortController();
    let looks = 0;
    const idsOf = async () => {
      looks += 1;
      controller.abort(new Error('late'));
      return new Map<string, number>();
    };
    const sources = { apps: { idsOf, ofHosts: async () => [] }, signal: controller.signal };
    await expect(rankApps(input(apps), page, sources)).rejects.toThrow('late');
    expect(looks).toBe(1);
  });

  it('goes on where apps are unknown', async () => {
    const apps = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, index) => [`app-${index}`, [index] as const]),
    );
    const registry = registryOf([app(1, 'app-8999'), app(2, 'app-40'), app(3, 'app-30')]);
    const ranked = await rankApps(input(apps), page, registry);
    expect(ranked.map(({ id, rank }) => [id, rank])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it('agrees with the plain computation for every page, ties and unknown apps included', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const below = numbers(seed);
      const all = Object.fromEntries(
        Array.from({ length: 1 + below(80) }, (_, index) => [`app-${index}`, [below(6), below(16)]]),
      );
      const known = Object.keys(all)
        .filter(() => below(10) > 0)
        .map((host) => app(1 + Number(host.slice(4)) * 7 + below(7), host));
      for (const sort of ['popular', 'trending'] as const) {
        const expected = known
          .map(({ id, host }) => {
            const [window = 0, past = 0] = all[host] ?? [];
            return { id, score: sort === 'popular' ? window : window * 3 - past };
          })
          .filter(({ score }) => score > 0)
          .sort((one, other) => other.score - one.score || one.id - other.id)
          .map(({ id }, index) => ({ id, rank: index + 1 }));
        for (const [offset, limit] of [
          [0, 1],
          [2, 3],
          [5, 10],
          [0, 100],
        ] as const) {
          const ranked = await rankApps(input(all, { sort }), { offset, limit }, registryOf(known));
          expect(ranked.map(({ id, rank }) => ({ id, rank }))).toEqual(
            expected.slice(offset, offset + limit),
          );
        }
      }
    }
  });
});
