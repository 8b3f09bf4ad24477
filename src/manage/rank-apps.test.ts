import { describe, expect, it } from 'vitest';
import type { App } from '../ports/apps.ts';
import type { AppTotals } from '../ports/events.ts';
import { rankApps, scoreApps } from './rank-apps.ts';

const totals = (app: string, ...tokens: number[]): AppTotals => ({
  app,
  tokens: tokens.map(BigInt),
  requests: tokens.map(() => 2n),
});

const app = (id: number, host: string, title: string | null = null): App => ({
  id,
  host,
  url: `https://${host}/`,
  title,
  categories: [],
});

const everyone = () => true;

const registry = (apps: readonly App[]) => async (hosts: readonly string[]) =>
  apps.filter(({ host }) => hosts.includes(host));

/** The same numbers in every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

describe('scoreApps', () => {
  it('puts the most tokens first, and leaves out those without any', () => {
    const scored = scoreApps([totals('a', 1), totals('b', 0), totals('c', 5)], 'popular', everyone);
    expect(scored.map(({ host }) => host)).toEqual(['c', 'a']);
  });

  it('tells growth exactly, and leaves out what does not grow', () => {
    const scored = scoreApps(
      [
        totals('mean', 2, 3, 3, 0),
        totals('a third more', 2, 3, 2, 0),
        totals('two thirds more', 2, 3, 1, 0),
        totals('new', 1, 0, 0, 0),
        totals('less', 9, 30, 0, 0),
      ],
      'trending',
      everyone,
    );
    expect(scored.map(({ host }) => host)).toEqual(['new', 'two thirds more', 'a third more']);
  });

  it('tells numbers apart that are larger than a double holds', () => {
    const one = { app: 'one', tokens: [2n ** 60n], requests: [1n] };
    const more = { app: 'more', tokens: [2n ** 60n + 1n], requests: [1n] };
    expect(scoreApps([one, more], 'popular', everyone).map(({ host }) => host)).toEqual(['more', 'one']);
  });

  it('leaves out who is not ranked', () => {
    expect(scoreApps([totals('a', 1), totals('b', 2)], 'popular', (host) => host !== 'b')).toHaveLength(1);
  });
});

describe('rankApps', () => {
  it('names apps by title, else by host, and orders equal ones by id', async () => {
    const scored = scoreApps([totals('a', 7), totals('b', 7), totals('c', 9)], 'popular', everyone);
    const apps = [app(3, 'a'), app(2, 'b', 'B'), app(5, 'c', 'C')];
    expect(await rankApps(scored, 10, registry(apps))).toEqual([
      { id: 5, name: 'C', rank: 1, tokens: 9n, requests: 2n },
      { id: 2, name: 'B', rank: 2, tokens: 7n, requests: 2n },
      { id: 3, name: 'a', rank: 3, tokens: 7n, requests: 2n },
    ]);
  });

  it('looks up no more than it takes', async () => {
    const scored = scoreApps(
      Array.from({ length: 1_000 }, (_, index) => totals(`app-${index}`, index)),
      'popular',
      everyone,
    );
    const asked: string[] = [];
    await rankApps(scored, 10, async (hosts) => {
      asked.push(...hosts);
      return hosts.map((host, index) => app(index + 1, host));
    });
    expect(asked).toHaveLength(10);
  });

  it('agrees with the plain computation for every page, ties and unknown apps included', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const below = numbers(seed);
      const count = 1 + below(80);
      const all = Array.from({ length: count }, (_, index) =>
        totals(`app-${index}`, below(6), below(6), below(6), below(6)),
      );
      const known = all
        .filter(() => below(10) > 0)
        .map(({ app: host }) => app(1 + Number(host.slice(4)) * 7 + below(7), host));
      for (const sort of ['popular', 'trending'] as const) {
        const expected = known
          .map(({ id, host }) => {
            const [window = 0, ...before] = all.find(({ app }) => app === host)?.tokens.map(Number) ?? [];
            const past = before.reduce((sum, tokens) => sum + tokens, 0);
            return { id, score: sort === 'popular' ? window : window * 3 - past };
          })
          .filter(({ score }) => score > 0)
          .sort((one, other) => other.score - one.score || one.id - other.id)
          .map(({ id }, index) => ({ id, rank: index + 1 }));
        const scored = scoreApps(all, sort, everyone);
        for (const most of [1, 3, 10, 100]) {
          const ranked = await rankApps(scored, most, registry(known));
          expect(ranked.map(({ id, rank }) => ({ id, rank }))).toEqual(expected.slice(0, most));
        }
      }
    }
  });
});
