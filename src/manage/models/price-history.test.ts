import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../catalog/catalog.ts';
import { runAtOnce } from '../../kit/loop/turns.ts';
import type { PriceRow } from '../../ports/upstreams/prices.ts';
import { changedPrices, changesIn, pricesInForce } from './price-history.ts';

const row = (sinceMs: number, price: string | null, endpoint = 'acme'): PriceRow => ({
  model: 'acme/one',
  endpoint,
  member: 'prompt',
  minPromptTokens: 0,
  sinceMs,
  price,
});

describe('changesIn', () => {
  it('joins rows that say the same, which several gateways noted', () => {
    const changes = changesIn([row(1, '1'), row(2, '2'), row(3, '2'), row(4, null), row(1, '1', 'other')]);
    expect(changes.map(({ atMs, before, after, isFirst }) => [atMs, before, after, isFirst])).toEqual([
      [1, null, '1', true],
      [2, '1', '2', false],
      [4, '2', null, false],
      [1, null, '1', true],
    ]);
  });
});

describe('pricesInForce', () => {
  it('takes the newest price until then, the first for what was before, and none that is gone', () => {
    const rows = [row(10, '1'), row(20, '2'), row(30, null)];
    const at = (ms: number) => pricesInForce(rows, ms).map(({ price }) => price);
    expect([at(5), at(10), at(25), at(30)]).toEqual([['1'], ['1'], ['2'], []]);
  });
});

describe('changedPrices', () => {
  const catalogOf = (...endpoints: object[]) =>
    ({ models: [{ id: 'acme/one', endpoints }] }) as unknown as Catalog;
  const endpoint = (pricing: object, overrides: object[] = []) => ({
    modelId: 'acme/one',
    tag: 'acme',
    pricing,
    overrides,
  });
  const known = (...rows: PriceRow[]) =>
    new Map(
      rows.map((each) => [`${each.model}\n${each.endpoint}\n${each.member}\n${each.minPromptTokens}`, each]),
    );

  it('has what is new, what differs, and members that an endpoint no longer has', () => {
    const catalog = catalogOf(
      endpoint({ completion: 2n }, [{ minPromptTokens: 200_000, pricing: { completion: 3n } }]),
    );
    const changed = runAtOnce(changedPrices(catalog, known(row(1, '1')), 9));
    expect(
      changed.map(({ member, minPromptTokens, price }) => [member, minPromptTokens, price === null]),
    ).toEqual([
      ['completion', 0, false],
      ['completion', 200_000, false],
      ['prompt', 0, true],
    ]);
  });

  it('keeps prices of endpoints that left the catalogue, and repeats none', () => {
    const once = runAtOnce(changedPrices(catalogOf(endpoint({ prompt: 1n })), known(), 1));
    const again = runAtOnce(changedPrices(catalogOf(endpoint({ prompt: 1n })), known(...once), 2));
    expect([once.length, again.length]).toEqual([1, 0]);
    expect(runAtOnce(changedPrices(catalogOf(), known(...once), 3))).toEqual([]);
  });
});
