import type { Catalog, Endpoint, Pricing } from '../../catalog/catalog.ts';
import { forEachSliced, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import { formatPrice } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { PriceKey, PriceRow, PriceStore } from '../../ports/upstreams/prices.ts';

export interface PriceChange extends PriceKey {
  readonly atMs: number;
  /** Null = the endpoint had no such price. */
  readonly before: string | null;
  /** Null = the endpoint no longer has it. */
  readonly after: string | null;
  /** The price was seen for the first time: it may have been in force before. */
  readonly isFirst: boolean;
}

type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * Remembers the prices of endpoints: every catalogue that comes into force is compared with the prices stored last.
 * Endpoints that leave the catalogue keep theirs, since they may return.
 */
export class PriceHistory {
  readonly #store: PriceStore;
  readonly #clock: Clock;
  readonly #warn: Warn;
  /** The newest price of each key; undefined until the first comparison. */
  #known: Map<string, PriceRow> | undefined;
  /** The catalogue to compare next; a newer one replaces one that waits. */
  #next: Catalog | undefined;
  #working: Promise<void> | undefined;

  constructor(store: PriceStore, clock: Clock, warn: Warn = () => {}) {
    this.#store = store;
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Stores what differs, in the background. Resolves when all is stored; never rejects. */
  note(catalog: Catalog): Promise<void> {
    this.#next = catalog;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  /** Newest first. `model`: changes of this model alone. */
  async changes(model?: string): Promise<PriceChange[]> {
    await this.#working;
    return changesIn(await this.#store.list(model)).sort((one, other) => other.atMs - one.atMs);
  }

  /**
   * The prices of an endpoint at a moment, by name. What was seen first counts for all time before: the prices of then
   * are not known better.
   */
  async inForce(
    { model, endpoint }: Pick<PriceKey, 'model' | 'endpoint'>,
    atMs: number,
  ): Promise<(PriceKey & { readonly price: string })[]> {
    await this.#working;
    return pricesInForce(
      (await this.#store.list(model)).filter((row) => row.endpoint === endpoint),
      atMs,
    );
  }

  async #work(): Promise<void> {
    for (let catalog = this.#next; catalog !== undefined; catalog = this.#next) {
      this.#next = undefined;
      try {
        await this.#compare(catalog);
      } catch (error) {
        this.#known = undefined;
        this.#warn('prices were not noted; the next catalogue is compared again', { error: String(error) });
      }
    }
  }

  async #compare(catalog: Catalog): Promise<void> {
    this.#known ??= new Map((await this.#store.newest()).map((row) => [keyOf(row), row]));
    const changed = await runInTurns(changedPrices(catalog, this.#known, this.#clock.now()));
    if (changed.length === 0) return;
    await this.#store.add(changed);
    for (const row of changed) this.#known.set(keyOf(row), row);
  }
}

export function* changedPrices(
  { models }: Pick<Catalog, 'models'>,
  known: ReadonlyMap<string, PriceRow>,
  sinceMs: number,
): Sliced<PriceRow[]> {
  const priced = new Map<string, PriceRow>();
  const endpoints = new Set<string>();
  yield* forEachSliced(models, (model) => {
    for (const endpoint of model.endpoints) {
      const place = placeOf({ model: model.id, endpoint: endpoint.tag });
      // Endpoints of one tag differ in the name of the upstream's model only; the first is called first.
      if (endpoints.has(place)) continue;
      endpoints.add(place);
      for (const row of rowsOf(endpoint, sinceMs)) priced.set(keyOf(row), row);
    }
  });
  const changed = [...priced.entries()]
    .filter(([key, row]) => known.get(key)?.price !== row.price)
    .map(([, row]) => row);
  const gone = [...known.entries()]
    .filter(([key, row]) => row.price !== null && !priced.has(key) && endpoints.has(placeOf(row)))
    .map(([, row]) => ({ ...row, sinceMs, price: null }));
  return [...changed, ...gone];
}

function rowsOf({ modelId, tag, pricing, overrides = [] }: Endpoint, sinceMs: number): PriceRow[] {
  const lists: readonly (readonly [number, Pricing])[] = [
    [0, pricing],
    ...overrides.map((override) => [override.minPromptTokens, override.pricing] as const),
  ];
  return lists.flatMap(([minPromptTokens, prices]) =>
    Object.entries(prices).map(([member, price]) => ({
      model: modelId,
      endpoint: tag,
      member,
      minPromptTokens,
      sinceMs,
      price: formatPrice(price),
    })),
  );
}

/** The changes in rows that stand by key, then oldest first. Several gateways may have noted the same change. */
export function changesIn(rows: readonly PriceRow[]): PriceChange[] {
  const changes: PriceChange[] = [];
  let last: PriceRow | undefined;
  for (const { sinceMs, price, ...key } of rows) {
    const before = last !== undefined && keyOf(last) === keyOf(key) ? last : undefined;
    last = { ...key, sinceMs, price };
    if (before !== undefined && before.price === price) continue;
    changes.push({
      ...key,
      atMs: sinceMs,
      before: before?.price ?? null,
      after: price,
      isFirst: before === undefined,
    });
  }
  return changes;
}

/** The price of each key at a moment, of rows that stand by key, then oldest first. */
export function pricesInForce(
  rows: readonly PriceRow[],
  atMs: number,
): (PriceKey & { readonly price: string })[] {
  const current = new Map<string, PriceRow>();
  for (const row of rows) {
    const key = keyOf(row);
    if (!current.has(key) || row.sinceMs <= atMs) current.set(key, row);
  }
  return [...current.values()].flatMap(({ sinceMs: _, price, ...key }) =>
    price === null ? [] : [{ ...key, price }],
  );
}

function keyOf({ model, endpoint, member, minPromptTokens }: PriceKey): string {
  return `${model}\n${endpoint}\n${member}\n${minPromptTokens}`;
}

function placeOf({ model, endpoint }: Pick<PriceKey, 'model' | 'endpoint'>): string {
  return `${model}\n${endpoint}`;
}
