import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { Durability, Journal, JournalPosition } from '../../../src/ports/money/journal.ts';
import { openJournal } from '../../../src/store/journal/open-journal.ts';
import { type Fault, JournalDisk } from './journal-disk.ts';

/** Something that happens to a journal while it is open. */
type Step =
  | { readonly kind: 'append'; readonly bytes: number; readonly durability: Durability }
  | { readonly kind: 'pass'; readonly operations: number }
  | { readonly kind: 'quiesce' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'room'; readonly bytes: number }
  | { readonly kind: 'fault'; readonly after: number; readonly fault: Fault }
  | { readonly kind: 'release'; readonly which: number };

/** From opening to the end of the process or the machine. */
interface Life {
  readonly whileOpening: readonly { readonly after: number; readonly fault: Fault }[];
  readonly steps: readonly Step[];
  readonly end: 'close' | 'process' | 'machine';
  readonly seed: number;
}

interface Sizes {
  readonly segmentBytes: number;
  readonly reservedBytes: number;
  readonly maxWaitingBytes: number;
}

/** What was promised of a record. */
interface Promised {
  survives: 'nothing' | Durability;
  /** May be there or not. */
  isReleased: boolean;
  position: JournalPosition | undefined;
  /** A whole journal was read without it. */
  isGone: boolean;
}

const fault = fc.record({
  kind: fc.constantFrom('ENOSPC', 'EIO', 'short', 'crash'),
  done: fc.nat(400),
  times: fc.integer({ min: 1, max: 3 }),
}) satisfies fc.Arbitrary<Fault>;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append'),
      bytes: fc.integer({ min: 4, max: 120 }),
      durability: fc.constantFrom<Durability>('process', 'power'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass'), operations: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('quiesce') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('room'), bytes: fc.nat(600) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fault'), after: fc.nat(6), fault }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release'), which: fc.nat() }) },
);

const life: fc.Arbitrary<Life> = fc.record({
  whileOpening: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.record({ after: fc.nat(30), fault }), { maxLength: 2 }) },
  ),
  steps: fc.array(step, { maxLength: 30 }),
  end: fc.constantFrom('close', 'process', 'machine'),
  seed: fc.nat(),
});

/** Sizes and lives one after the other, over the same directory. */
export const histories: fc.Arbitrary<readonly [Sizes, readonly Life[]]> = fc.tuple(
  fc.record({
    segmentBytes: fc.constantFrom(60, 300, 2000),
    reservedBytes: fc.constantFrom(0, 256),
    maxWaitingBytes: fc.constantFrom(400, 100_000),
  }),
  fc.array(life, { minLength: 1, maxLength: 4 }),
);

/** Lives through a history and checks at every opening that all promises were kept. Timers must be faked. */
export async function liveThrough([sizes, lives]: readonly [Sizes, readonly Life[]]): Promise<void> {
  const history = new History(sizes);
  for (const each of lives) await history.live(each);
  await history.recover();
}

class History {
  readonly #disk = new JournalDisk();
  readonly #sizes: Sizes;
  readonly #promised: Promised[] = [];
  /** Faults that happened before this life. */
  #faultsBefore = 0;

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
  }

  async live({ whileOpening, steps, end, seed }: Life): Promise<void> {
    this.#faultsBefore = this.#disk.faultsMet;
    for (const { after, fault } of whileOpening) this.#disk.plan(after, fault);
    const journal = await this.#open();
    this.#disk.planNothing();
    for (const each of steps) if (journal !== undefined) await this.#take(each, journal);
    if (end === 'close') {
      void journal?.close();
      await this.#disk.quiesce();
    }
    await this.#halt();
    if (end !== 'machine') return this.#disk.endProcess();
    this.#disk.endMachine(randomFrom(seed));
    for (const each of this.#promised) if (each.survives === 'process') each.survives = 'nothing';
  }

  /** With a disk that works again the journal does too, by itself. */
  async recover(): Promise<void> {
    const journal = await this.#open();
    if (journal === undefined) throw new Error('the journal did not open on a disk without faults');
    expect(journal.isWritable).toBe(true);
    this.#disk.capacity = this.#disk.usedBytes;
    this.#append(journal, 50, 'power');
    await this.#disk.quiesce();
    expect(journal.isWritable).toBe(false);
    this.#disk.planNothing();
    vi.advanceTimersByTime(250);
    await this.#disk.quiesce();
    expect(journal.isWritable).toBe(true);
    const last = this.#append(journal, 50, 'power');
    await this.#disk.quiesce();
    expect(this.#promised[last]?.survives).toBe('power');
    await this.#halt();
    this.#disk.endMachine(randomFrom(1));
    await this.#open();
  }

  /** Whatever the process still wants waits for the disk, which never answers. */
  async #halt(): Promise<void> {
    await this.#disk.pass(0);
    vi.clearAllTimers();
  }

  /** Undefined when a fault kept it from opening. */
  async #open(): Promise<Journal | undefined> {
    const before = this.#disk.faultsMet;
    const ids: number[] = [];
    let opened: Journal | undefined;
    let failure: unknown;
    openJournal(
      {
        directory: '',
        ...this.#sizes,
        replay: ({ record, position }) => {
          const id = idOf(record);
          ids.push(id);
          expect(this.#promised[id], `record ${id} was appended`).toBeDefined();
          this.#promised[id]!.position = position;
        },
      },
      this.#disk,
    ).then(
      ({ journal }) => {
        opened = journal;
      },
      (error) => {
        failure = error;
      },
    );
    await this.#disk.quiesce();
    const hadFaults = this.#disk.faultsMet > before;
    if (!hadFaults && failure !== undefined) throw failure;
    if (opened !== undefined) this.#check(ids, hadFaults);
    return opened;
  }

  #check(ids: readonly number[], hadFaults: boolean): void {
    expect(ids, 'in order, each once').toEqual([...new Set(ids)].sort((one, other) => one - other));
    const there = new Set(ids);
    for (const [id, each] of this.#promised.entries()) {
      if (each.survives !== 'nothing')
        expect(there, `record ${id} that survives ${each.survives}`).toContain(id);
      if (each.isGone) expect(there, `record ${id} that was gone`).not.toContain(id);
      if (each.isReleased || hadFaults) continue;
      if (there.has(id)) each.survives = 'power';
      else each.isGone = true;
    }
  }

  async #take(step: Step, journal: Journal): Promise<void> {
    const disk = this.#disk;
    if (disk.hasCrashed) return;
    if (step.kind === 'append') this.#append(journal, step.bytes, step.durability);
    else if (step.kind === 'pass') await disk.pass(step.operations);
    else if (step.kind === 'quiesce') await disk.quiesce();
    else if (step.kind === 'wait') vi.advanceTimersByTime(250);
    else if (step.kind === 'room') disk.capacity = disk.usedBytes + step.bytes;
    else if (step.kind === 'fault') disk.plan(step.after, step.fault);
    else this.#release(journal, step.which);
  }

  #append(journal: Journal, bytes: number, durability: Durability): number {
    const id = this.#promised.length;
    const promised: Promised = { survives: 'nothing', position: undefined, isGone: false, isReleased: false };
    this.#promised.push(promised);
    journal.append(recordOf(id, bytes), durability).then(
      (position) => {
        promised.survives = durability;
        promised.position = position;
        if (durability === 'power' && this.#disk.faultsMet === this.#faultsBefore) this.#keepAllBefore(id);
      },
      (error) => expect(error).toHaveProperty('name', 'JournalUnavailable'),
    );
    return id;
  }

  /** On a disk that does not fail, what survives the machine brings all with it that was acknowledged before. */
  #keepAllBefore(id: number): void {
    for (const each of this.#promised.slice(0, id)) if (each.survives === 'process') each.survives = 'power';
  }

  #release(journal: Journal, which: number): void {
    const known = this.#promised.filter(({ survives, isGone }) => survives !== 'nothing' && !isGone);
    const upTo = known[which % known.length]?.position;
    if (upTo === undefined) return;
    for (const each of known) {
      if (each.position !== undefined && !isAfter(each.position, upTo)) {
        Object.assign(each, { survives: 'nothing', isReleased: true });
      }
    }
    journal.release(upTo).catch(() => {});
  }
}

function isAfter(one: JournalPosition, other: JournalPosition): boolean {
  return one.segment > other.segment || (one.segment === other.segment && one.offset > other.offset);
}

/** A record that repeats its id in every word. */
function recordOf(id: number, bytes: number): Buffer {
  const record = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at++) record[at] = id >> (8 * (at % 4));
  return record;
}

function idOf(record: Uint8Array): number {
  const id = Buffer.from(record).readUInt32LE(0);
  expect(Buffer.compare(Buffer.from(record), recordOf(id, record.length)), 'an undamaged record').toBe(0);
  return id;
}

function randomFrom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
