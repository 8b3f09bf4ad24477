import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { FinalCharge, Ledger, Limits, ScopeIds } from '../../../src/ports/money/ledger.ts';
import { openEmbeddedLedger } from '../../../src/store/ledger/embedded/open-embedded-ledger.ts';
import type { OpenedLedger } from '../../../src/store/ledger/opened-ledger.ts';
import { MemoryGenerations } from '../../adapters/contracts/memory-generations.ts';
import { MemoryMark } from '../../adapters/contracts/memory-mark.ts';
import { type Fault, JournalDisk } from './journal-disk.ts';

/** Something that happens to a ledger while it is open. `which` chooses among the generations that were begun. */
type Step =
  | { readonly kind: 'reserve'; readonly nanos: bigint }
  | { readonly kind: 'checkpoint' | 'topUp' | 'settle'; readonly which: number; readonly nanos: bigint }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'grant'; readonly nanos: bigint }
  | { readonly kind: 'pass'; readonly operations: number }
  | { readonly kind: 'quiesce' }
  | { readonly kind: 'rows'; readonly fail: boolean }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'room'; readonly bytes: number }
  | { readonly kind: 'fault'; readonly after: number; readonly fault: Fault };

/** From opening to the end of the process or the machine. */
interface Life {
  readonly steps: readonly Step[];
  readonly end: 'close' | 'process' | 'machine';
  readonly seed: number;
}

interface Sizes {
  readonly segmentBytes: number;
  readonly reservedBytes: number;
  readonly snapshotBytes: number;
}

/** What was promised of a generation. */
interface Promised {
  /** Reserved, so it has a row in the end unless it was released. */
  isAccepted: boolean;
  isVoided: boolean;
  /** Settlement acknowledged. */
  charge: FinalCharge | undefined;
}

const NOW = Date.parse('2025-06-15T12:00:00Z');
const SCOPES: ScopeIds = { key: 'k', workspace: 'w', account: 'a' };
const LIMITS: Limits = { key: [{ window: 'lifetime', nanos: 2_000n, countsByok: false }], workspace: [] };

const nanos = fc.bigInt({ min: 0n, max: 90n });
const which = fc.nat(30);

const fault = fc.record({
  kind: fc.constantFrom('ENOSPC', 'EIO', 'short', 'crash'),
  done: fc.nat(400),
  times: fc.integer({ min: 1, max: 4 }),
}) satisfies fc.Arbitrary<Fault>;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('reserve'), nanos }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('checkpoint'), which, nanos }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('topUp'), which, nanos }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('settle'), which, nanos }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('void'), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('grant'), nanos: fc.bigInt({ min: 0n, max: 900n }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('pass'), operations: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('quiesce') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rows'), fail: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait'), milliseconds: fc.constantFrom(100, 250, 11_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('room'), bytes: fc.nat(3_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fault'), after: fc.nat(12), fault }) },
);

const life: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(step, { maxLength: 50 }),
  end: fc.constantFrom('close', 'process', 'machine'),
  seed: fc.nat(),
});

/** Sizes and lives one after the other, over the same disk. */
export const ledgerHistories: fc.Arbitrary<readonly [Sizes, readonly Life[]]> = fc.tuple(
  fc.record({
    segmentBytes: fc.constantFrom(600, 3_000),
    reservedBytes: fc.constantFrom(0, 1_000),
    snapshotBytes: fc.constantFrom(200, 1_500, 6_000),
  }),
  fc.array(life, { minLength: 1, maxLength: 4 }),
);

/** Lives through a history and checks at every opening that all promises were kept. Timers must be faked. */
export async function liveWithLedger([sizes, lives]: readonly [Sizes, readonly Life[]]): Promise<void> {
  const history = new LedgerHistory(sizes);
  for (const each of lives) await history.live(each);
  await history.recover();
}

class LedgerHistory {
  readonly #disk = new JournalDisk();
  readonly #sizes: Sizes;
  /** Rows and the mark survive everything: they are another disk's. */
  readonly #generations = new MemoryGenerations();
  readonly #mark = new MemoryMark();
  readonly #promised = new Map<string, Promised>();
  /** Acknowledged grants, and those that may have been made since. */
  #granted: { readonly sure: bigint | null; readonly possible: readonly bigint[] } = {
    sure: null,
    possible: [],
  };
  #next = 0;

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
  }

  async live({ steps, end, seed }: Life): Promise<void> {
    const opened = await this.#open();
    for (const each of steps) if (!this.#disk.hasCrashed) await this.#take(each, opened.ledger);
    if (end === 'close') await this.#await(opened.close());
    await this.#disk.pass(0);
    vi.clearAllTimers();
    if (end !== 'machine') return this.#disk.endProcess();
    this.#disk.endMachine(randomFrom(seed));
    // What was accepted, and not more, survives the end of the process only.
    for (const promised of this.#promised.values()) if (!promised.charge) promised.isAccepted = false;
  }

  async recover(): Promise<void> {
    const { ledger } = await this.#open();
    expect(ledger.isAvailable).toBe(true);
    expect(await this.#reserve(ledger, 'last', 0n)).toBe(true);
    expect(await this.#await(ledger.settle('last', { used: credit(0n), row: {}, atMs: NOW }))).toBe(true);
    const rows = this.#generations.rows;
    await this.#await(whenTrue(() => rows.has('last')));
  }

  async #open(): Promise<OpenedLedger> {
    this.#generations.failure = undefined;
    const { segmentBytes, reservedBytes, snapshotBytes } = this.#sizes;
    let opened: OpenedLedger | undefined;
    const opening = openEmbeddedLedger({
      directory: '',
      files: this.#disk,
      generations: this.#generations,
      mark: this.#mark,
      exists: { key: new Set(['k']), workspace: new Set(['w']) },
      durability: () => 'power',
      clock: { now: () => NOW, monotonic: () => 0 },
      warn() {},
      snapshotBytes,
      journal: { segmentBytes, reservedBytes },
    }).then((one) => {
      opened = one;
    });
    await this.#await(opening);
    if (opened === undefined) await opening;
    if (opened === undefined) throw new Error('the ledger did not open on a disk without faults');
    await this.#check(opened.ledger);
    return opened;
  }

  async #check(ledger: Ledger): Promise<void> {
    expect(ledger.openReservations, 'nothing is open after opening').toBe(0);
    const { accounts } = await ledger.verify();
    for (const { differenceNanos } of accounts) expect(differenceNanos).toBe(0n);
    const { settledNanos, grantedNanos } = await ledger.statementOf('a');
    const charged = [...this.#generations.rows.values()].reduce(
      (sum, row) => sum + row.charge.creditNanos,
      0n,
    );
    expect(settledNanos, 'the books and the rows agree').toBe(charged);
    expect(settledNanos).toBeLessThanOrEqual(2_000n);
    const { sure, possible } = this.#granted;
    expect([sure, ...possible]).toContain(grantedNanos === null ? null : grantedNanos);
    this.#granted = { sure: grantedNanos, possible: [] };
    for (const [id, promised] of this.#promised) this.#checkOne(id, promised);
  }

  #checkOne(id: string, promised: Promised): void {
    const row = this.#generations.rows.get(id);
    if (promised.charge !== undefined) {
      expect(row, `${id} was said to be settled`).toMatchObject(promised.charge);
    } else if (promised.isAccepted && !promised.isVoided) {
      expect(row, `${id} was accepted`).toBeDefined();
    }
    if (row !== undefined && !promised.charge) {
      promised.charge = { charge: row.charge, writtenOffNanos: row.writtenOffNanos };
    }
  }

  async #take(step: Step, ledger: Ledger): Promise<void> {
    const disk = this.#disk;
    if (step.kind === 'reserve') void this.#reserve(ledger, `g${this.#next++}`, step.nanos, false);
    else if (step.kind === 'grant') await this.#grant(ledger, step.nanos);
    else if (step.kind === 'pass') await disk.pass(step.operations);
    else if (step.kind === 'quiesce') await disk.quiesce();
    else if (step.kind === 'rows') this.#generations.failure = step.fail ? new Error('no rows') : undefined;
    else if (step.kind === 'wait') vi.advanceTimersByTime(step.milliseconds);
    else if (step.kind === 'room') disk.capacity = disk.usedBytes + step.bytes;
    else if (step.kind === 'fault') disk.plan(step.after, step.fault);
    else this.#change(ledger, step);
  }

  async #reserve(ledger: Ledger, id: string, amount: bigint, waits = true): Promise<boolean> {
    const promised: Promised = { isAccepted: false, isVoided: false, charge: undefined };
    this.#promised.set(id, promised);
    const reserving = ledger
      .reserve({ generationId: id, scopes: SCOPES, limits: LIMITS, atMs: NOW, row: { id } }, () =>
        credit(amount),
      )
      .then(
        ({ ok }) => {
          promised.isAccepted = ok;
        },
        (error) => expect(error).toHaveProperty('name', 'LedgerUnavailable'),
      );
    if (waits) await this.#await(reserving);
    return promised.isAccepted;
  }

  #change(ledger: Ledger, step: Extract<Step, { which: number }>): void {
    const ids = [...this.#promised].flatMap(([id, { isAccepted, charge }]) =>
      isAccepted && !charge ? id : [],
    );
    const id = ids[step.which % Math.max(1, ids.length)];
    const promised = this.#promised.get(id ?? '');
    if (id === undefined || promised === undefined) return;
    if (step.kind === 'void') {
      promised.isVoided = true;
      void ledger.void(id, NOW);
      return;
    }
    const amount = credit(step.nanos);
    if (step.kind === 'topUp') void ledger.topUp(id, () => amount, NOW);
    else if (step.kind === 'checkpoint') void ledger.checkpoint(id, { used: amount, row: {}, atMs: NOW });
    else {
      ledger.settle(id, { used: amount, row: { id }, atMs: NOW }).then(
        (charge) => {
          if (!promised.isVoided) promised.charge = charge;
        },
        // It may be of a life before this one, which the ledger has settled itself.
        (error) => expect(['LedgerUnavailable', 'RangeError']).toContain(error.name),
      );
    }
  }

  async #grant(ledger: Ledger, left: bigint): Promise<void> {
    // What is settled just then is part of the grant, so that nothing may come between.
    const { settledNanos } = await ledger.statementOf('a');
    const granted = settledNanos + left;
    this.#granted = { ...this.#granted, possible: [...this.#granted.possible, granted] };
    ledger.grant('a', left, NOW).then(
      () => {
        const { possible } = this.#granted;
        this.#granted = { sure: granted, possible: possible.slice(possible.indexOf(granted) + 1) };
      },
      (error) => expect(error).toHaveProperty('name', 'LedgerUnavailable'),
    );
  }

  /** Lets the disk and the timers go on until something is done, or the disk says nothing any more. */
  async #await(work: Promise<unknown>): Promise<boolean> {
    let isDone = false;
    work.then(
      () => {
        isDone = true;
      },
      () => {
        isDone = true;
      },
    );
    for (let round = 0; round < 400 && !isDone && !this.#disk.hasCrashed; round++) {
      await this.#disk.quiesce();
      if (!isDone) vi.advanceTimersByTime(100);
    }
    return isDone;
  }
}

function whenTrue(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => (condition() ? resolve() : setTimeout(look, 100));
    look();
  });
}

function credit(creditNanos: bigint) {
  return { creditNanos, byokNanos: 0n };
}

function randomFrom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
