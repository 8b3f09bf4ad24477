/**
 * Simulates a cluster that shares PostgreSQL, Redis and ClickHouse, on a clock of its own: by default 1,000 gateways and
 * a million requests a second, with hot keys, a provider that fails and a PostgreSQL server that is away for 15 s. Once
 * the load balancer spreads requests evenly, once it keeps each key at a few gateways. Prints what each store is asked
 * for in every phase, how many requests are refused, and which store breaks first. Slices are sized by the code that the
 * gateway runs. Exits with 1 when a limit was exceeded.
 *
 *     node scripts/bench.mjs simulate-cluster [SEED] [REPLICAS] [REQUESTS_PER_SECOND]
 */
import { type Amount, NOTHING } from '../src/ir/amount.ts';
import { Demand, HOT_RESERVATIONS } from '../src/store/ledger/postgres/slices/demand.ts';
import { Slice } from '../src/store/ledger/postgres/slices/slice.ts';
import { missingInSlice, type SliceBounds } from '../src/store/ledger/postgres/slices/slice-size.ts';
import { mulberry } from './mulberry.ts';

const given = process.argv.slice(2).map(Number);
const SEED = given[0] ?? 1;
const REPLICAS = given[1] ?? 1_000;
const REQUESTS_PER_SECOND = given[2] ?? 1_000_000;

const TICK_MS = 100;
const GENERATION_TICKS = 20;

/** Keys; the n-th asks 1/n as often as the first. */
const KEYS = 1_000_000;

/** What a request reserves, and the most that it costs, nano-dollars. */
const RESERVED: Amount = { creditNanos: 20_000_000n, byokNanos: 0n };
const MAX_CHARGE_NANOS = 4_000_000;

/** Bounds of slices, as they are by default. */
const BOUNDS: SliceBounds = { maxNanos: 25_000_000_000n, maxShare: 0.02 };

/** One key in ten of the hottest has a limit that is used up after this time. */
const TIGHT_KEY_STEP = 10;
const TIGHT_SECONDS = 12;
const MEAN_CHARGE_NANOS = MAX_CHARGE_NANOS / 2;

/** Every so many keys one has no limit: it is served while the database is away, and booked afterwards. */
const UNLIMITED_KEY_STEP = 2;

/** A gateway books what it has settled once a tick; one statement books so many at most. */
const MAX_BOOKED = 500;

/** Statements of a gateway without any request: changes, heartbeat, sweep and the right to feed ClickHouse. */
const IDLE_STATEMENTS_PER_SECOND = 3;

/** Exchanges of a gateway with Redis: each brings its reports of health, if there are any, and fetches others. */
const EXCHANGES_PER_SECOND = 4;

/** Time after which a payer asks for a slice again that a limit was too small for. */
const SLICE_RETRY_MS = 1_000;

/** Shares of the requests that ask Redis: once if their key has a request limit, twice if they begin a session. */
const LIMITED_SHARE = 0.5;
const SESSION_SHARE = 0.2;

/** Share of the exchanges that bring something about the health of endpoints, in good times. */
const QUIET_REPORT_SHARE = 0.25;

interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly isProviderDown?: boolean;
  readonly isDatabaseAway?: boolean;
}

const PHASES: readonly Phase[] = [
  { name: 'start', seconds: 4 },
  { name: 'steady', seconds: 6 },
  { name: 'provider down', seconds: 5, isProviderDown: true },
  { name: 'PostgreSQL away', seconds: 15, isDatabaseAway: true },
  { name: 'first second back', seconds: 1 },
  { name: 'steady again', seconds: 5 },
];

/** How a load balancer distributes requests. */
interface Layout {
  readonly name: string;
  /** Gateways that serve a key. */
  readonly gatewaysPerKey: number;
  /** Keys that may be frequent enough for a slice: those after them count as one statement a request. */
  readonly followedKeys: number;
}

const LAYOUTS: readonly Layout[] = [
  { name: 'spread evenly', gatewaysPerKey: REPLICAS, followedKeys: 100 },
  { name: 'each key at 4 gateways', gatewaysPerKey: Math.min(4, REPLICAS), followedKeys: 10_000 },
];

/** What one server of each kind is taken to sustain. Assumed, not measured: compare with figures of your own. */
const CAPACITY = {
  'PostgreSQL statements/s': 50_000,
  'Redis operations/s': 200_000,
  'Redis deliveries/s': 1_000_000,
  'ClickHouse rows/s': 1_000_000,
  'rows/s of the gateway that feeds ClickHouse': 50_000,
} as const;

type Measure = keyof typeof CAPACITY;
type Load = Record<Measure, number>;
const MEASURES = Object.keys(CAPACITY) as Measure[];

type Outcome = 'served' | 'refused' | 'limited';

/** The books of a key in the database. */
interface Tally {
  readonly limitNanos: bigint;
  spentNanos: bigint;
  reservedNanos: bigint;
}

/** A key at one gateway, with what it has open there by the tick of the end. */
interface Payer {
  readonly gateway: number;
  readonly tally: Tally;
  readonly demand: Demand;
  slice: Slice | undefined;
  notBeforeMs: number;
  readonly endsOfSlice: Uint16Array;
  readonly endsOfReservations: Uint16Array;
  /** Settled and not booked. */
  sliceNanos: bigint;
  ownNanos: bigint;
  ownReservedNanos: bigint;
}

interface PhaseResult {
  readonly phase: Phase;
  /** Of an average second. */
  readonly load: Load;
  readonly counts: Readonly<Record<Outcome, number>>;
}

class Cluster {
  readonly #layout: Layout;
  readonly #random = mulberry(SEED);
  readonly #tallies: readonly Tally[];
  readonly #payers: readonly Map<number, Payer>[];
  /** Ends of keys that are not followed, by tick and gateway. */
  readonly #coldEnds = Array.from({ length: GENERATION_TICKS }, () => new Int32Array(REPLICAS));
  /** Settled and not booked, by gateway. */
  readonly #unbooked = new Int32Array(REPLICAS);
  #tick = 0;
  #load = noLoad();

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#tallies = Array.from({ length: layout.followedKeys }, (_, key) => tallyOf(key));
    this.#payers = this.#tallies.map(() => new Map());
  }

  run(phase: Phase): PhaseResult {
    this.#load = noLoad();
    const counts = { served: 0, refused: 0, limited: 0 };
    for (let index = 0; index < (phase.seconds * 1_000) / TICK_MS; index++) this.#runTick(phase, counts);
    this.#addPeriodic(phase);
    const requests = counts.served + counts.refused + counts.limited;
    const toRedis = requests * (LIMITED_SHARE + SESSION_SHARE) + counts.served * SESSION_SHARE;
    this.#load['Redis operations/s'] += toRedis;
    this.#load['ClickHouse rows/s'] += counts.served;
    this.#load['rows/s of the gateway that feeds ClickHouse'] += counts.served;
    for (const measure of MEASURES) this.#load[measure] /= phase.seconds;
    return { phase, load: this.#load, counts };
  }

  /** Keys whose books hold more than their limits allow. */
  get overspent(): number {
    return this.#tallies.filter((tally) => tally.spentNanos + tally.reservedNanos > tally.limitNanos).length;
  }

  get usedUp(): number {
    return this.#tallies.filter((tally) => leftOf(tally) < RESERVED.creditNanos).length;
  }

  #runTick(phase: Phase, counts: Record<Outcome, number>): void {
    const isUp = phase.isDatabaseAway !== true;
    const place = this.#tick % GENERATION_TICKS;
    this.#endGenerations(place);
    if (isUp) this.#bookAll();
    const arrivals = (REQUESTS_PER_SECOND * TICK_MS) / 1_000;
    for (let index = 0; index < arrivals; index++) {
      const key = this.#drawKey();
      const gateway = this.#gatewayOf(key);
      counts[this.#arrive(key, gateway, place, isUp)] += 1;
    }
    this.#tick += 1;
  }

  /** The n-th key is drawn 1/n as often as the first, about. */
  #drawKey(): number {
    return Math.floor(KEYS ** this.#random()) - 1;
  }

  #gatewayOf(key: number): number {
    const place = Math.floor(this.#random() * this.#layout.gatewaysPerKey);
    return (key * 7_919 + place) % REPLICAS;
  }

  #arrive(key: number, gateway: number, place: number, isUp: boolean): Outcome {
    if (key < this.#layout.followedKeys) return this.#arriveFollowed(key, gateway, place, isUp);
    if (!isUp && !isUnlimited(key)) return 'refused';
    if (isUp) this.#load['PostgreSQL statements/s'] += 1;
    const ends = this.#coldEnds[place];
    if (ends !== undefined) ends[gateway] = (ends[gateway] ?? 0) + 1;
    return 'served';
  }

  #arriveFollowed(key: number, gateway: number, place: number, isUp: boolean): Outcome {
    const payer = this.#payerOf(key, gateway);
    const nowMs = this.#nowMs;
    if (payer.slice?.take(RESERVED) === true) {
      payer.demand.reserved(RESERVED, nowMs);
      payer.endsOfSlice[place] = (payer.endsOfSlice[place] ?? 0) + 1;
      if (isUp) this.#serveSlice(payer);
      return 'served';
    }
    const { tally } = payer;
    if (!isUp && !isUnlimited(key)) return 'refused';
    if (isUp) this.#load['PostgreSQL statements/s'] += 1;
    if (isUp && leftOf(tally) < RESERVED.creditNanos) return 'limited';
    // While the database is away only the gateway's journal knows of it; an unlimited key has enough left at booking.
    tally.reservedNanos += RESERVED.creditNanos;
    payer.demand.reserved(RESERVED, nowMs);
    payer.endsOfReservations[place] = (payer.endsOfReservations[place] ?? 0) + 1;
    if (isUp) this.#serveSlice(payer);
    return 'served';
  }

  /** Leases a slice for a payer that became hot, or fills up one that is half empty. */
  #serveSlice(payer: Payer): void {
    const nowMs = this.#nowMs;
    const { demand, tally } = payer;
    if (nowMs < payer.notBeforeMs) return;
    if (payer.slice === undefined && demand.count(nowMs) < HOT_RESERVATIONS) return;
    const free = payer.slice?.free ?? NOTHING;
    const target = { wanted: demand.target(nowMs), least: demand.largest(nowMs) };
    if (payer.slice !== undefined && free.creditNanos * 2n >= target.wanted.creditNanos) return;
    this.#load['PostgreSQL statements/s'] += 1;
    const left = leftOf(tally);
    const more = missingInSlice(target, free, { creditNanos: left, totalNanos: left }, BOUNDS);
    payer.notBeforeMs = nowMs + (more === null ? SLICE_RETRY_MS : TICK_MS);
    if (more === null) return;
    tally.reservedNanos += more.creditNanos;
    payer.slice ??= new Slice('slice', { scopes: SCOPES, limits: { key: [], workspace: [] } }, nowMs);
    payer.slice.raise(more, nowMs);
  }

  /** Settles what ends in this tick. It is in the journals of the gateways until it is booked. */
  #endGenerations(place: number): void {
    const cold = this.#coldEnds[place];
    for (const [gateway, count] of cold?.entries() ?? []) this.#addUnbooked(gateway, count);
    cold?.fill(0);
    for (const payers of this.#payers) for (const payer of payers.values()) this.#settle(payer, place);
  }

  #settle(payer: Payer, place: number): void {
    const ofSlice = payer.endsOfSlice[place] ?? 0;
    const ofReservations = payer.endsOfReservations[place] ?? 0;
    if (ofSlice + ofReservations === 0) return;
    payer.endsOfSlice[place] = 0;
    payer.endsOfReservations[place] = 0;
    this.#addUnbooked(payer.gateway, ofSlice + ofReservations);
    for (let index = 0; index < ofSlice + ofReservations; index++) {
      const creditNanos = BigInt(Math.floor(this.#random() * MAX_CHARGE_NANOS));
      payer.demand.charged({ creditNanos, byokNanos: 0n }, this.#nowMs);
      if (index < ofSlice) {
        payer.sliceNanos += creditNanos;
        payer.slice?.giveBack({ creditNanos: RESERVED.creditNanos - creditNanos, byokNanos: 0n });
      } else {
        payer.ownNanos += creditNanos;
        payer.ownReservedNanos += RESERVED.creditNanos;
      }
    }
  }

  #addUnbooked(gateway: number, count: number): void {
    this.#unbooked[gateway] = (this.#unbooked[gateway] ?? 0) + count;
  }

  /** Every gateway books what it has settled, some hundred generations in a statement. */
  #bookAll(): void {
    for (const payers of this.#payers) for (const payer of payers.values()) book(payer);
    for (const count of this.#unbooked) {
      this.#load['PostgreSQL statements/s'] += Math.ceil(count / MAX_BOOKED);
    }
    this.#unbooked.fill(0);
  }

  /** What every gateway does, whatever comes. */
  #addPeriodic({ seconds, isProviderDown, isDatabaseAway }: Phase): void {
    const gatewaySeconds = seconds * REPLICAS;
    if (isDatabaseAway !== true) {
      this.#load['PostgreSQL statements/s'] += gatewaySeconds * IDLE_STATEMENTS_PER_SECOND;
    }
    const exchanges = gatewaySeconds * EXCHANGES_PER_SECOND;
    const reports = exchanges * (isProviderDown === true ? 1 : QUIET_REPORT_SHARE);
    this.#load['Redis operations/s'] += exchanges;
    this.#load['Redis deliveries/s'] += reports * (REPLICAS - 1);
  }

  #payerOf(key: number, gateway: number): Payer {
    const payers = this.#payers[key];
    const tally = this.#tallies[key];
    if (payers === undefined || tally === undefined) throw new RangeError(`the key ${key} is not followed`);
    const known = payers.get(gateway);
    if (known !== undefined) return known;
    const payer: Payer = {
      gateway,
      tally,
      demand: new Demand(this.#nowMs),
      slice: undefined,
      notBeforeMs: 0,
      endsOfSlice: new Uint16Array(GENERATION_TICKS),
      endsOfReservations: new Uint16Array(GENERATION_TICKS),
      sliceNanos: 0n,
      ownNanos: 0n,
      ownReservedNanos: 0n,
    };
    payers.set(gateway, payer);
    return payer;
  }

  get #nowMs(): number {
    return this.#tick * TICK_MS;
  }
}

const SCOPES = { key: 'key', workspace: 'workspace', account: 'account' };

/** Charges what is settled, and releases what was reserved for it. */
function book(payer: Payer): void {
  const { tally, sliceNanos, ownNanos, ownReservedNanos } = payer;
  tally.spentNanos += sliceNanos + ownNanos;
  tally.reservedNanos -= sliceNanos + ownReservedNanos;
  if (sliceNanos > 0n) payer.slice?.booked({ creditNanos: sliceNanos, byokNanos: 0n });
  payer.sliceNanos = 0n;
  payer.ownNanos = 0n;
  payer.ownReservedNanos = 0n;
}

function leftOf({ limitNanos, spentNanos, reservedNanos }: Tally): bigint {
  return limitNanos - spentNanos - reservedNanos;
}

function isUnlimited(key: number): boolean {
  return key % UNLIMITED_KEY_STEP === 0;
}

/** Limits that suffice for a day, but those of the tight keys. That of an unlimited key is never reached. */
function tallyOf(key: number): Tally {
  const perSecond = REQUESTS_PER_SECOND / ((key + 1) * Math.log(KEYS));
  const seconds = key % TIGHT_KEY_STEP === 1 ? TIGHT_SECONDS : 86_400;
  const limitNanos = BigInt(Math.ceil(perSecond * seconds * MEAN_CHARGE_NANOS)) + RESERVED.creditNanos;
  return { limitNanos, spentNanos: 0n, reservedNanos: 0n };
}

function noLoad(): Load {
  return Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as Load;
}

function report(layout: Layout, results: readonly PhaseResult[], cluster: Cluster): void {
  console.log(`\n${layout.name}`);
  console.table(
    Object.fromEntries(
      results.map(({ phase, load, counts: { served, refused, limited } }) => {
        const requests = served + refused + limited;
        const percent = (count: number) => `${((100 * count) / requests).toFixed(1)} %`;
        const loads = MEASURES.map((measure) => [measure, Math.round(load[measure])] as const);
        return [
          phase.name,
          {
            served: percent(served),
            'no money (402)': percent(limited),
            'refused (503)': percent(refused),
            ...Object.fromEntries(loads),
          },
        ];
      }),
    ),
  );
  const steady = results.find(({ phase }) => phase.name === 'steady')?.load ?? noLoad();
  const worst = MEASURES.map((measure) => [measure, steady[measure] / CAPACITY[measure]] as const).sort(
    ([, left], [, right]) => right - left,
  );
  for (const [measure, times] of worst) {
    console.log(`${measure}: ${times.toFixed(2)} times what one server is taken to sustain`);
  }
  console.log(`limits used up: ${cluster.usedUp}; limits exceeded: ${cluster.overspent}`);
}

console.log(`${REPLICAS} gateways, ${REQUESTS_PER_SECOND} requests/s, ${KEYS} keys, seed ${SEED}`);
for (const layout of LAYOUTS) {
  const cluster = new Cluster(layout);
  const results = PHASES.map((phase) => cluster.run(phase));
  report(layout, results, cluster);
  if (cluster.overspent > 0) process.exitCode = 1;
}
