import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../ir/amount.ts';
import { LIMIT_WINDOWS } from '../../../kit/time/windows.ts';
import type { Limit, Limits } from '../../../ports/money/ledger.ts';
import { decodeRecord, encodeRecord, type LedgerRecord } from '../records/records.ts';
import { parseSnapshot, renderSnapshot } from '../snapshot/snapshot-lines.ts';
import { Books } from './books.ts';
import { SCOPES } from './limits.ts';

const START = Date.parse('2025-06-29T20:00:00Z');
const HOUR = 3_600_000;

/** Two keys of one workspace, one of another, and one of another account. */
const OWNERS = [
  { key: 'k0', workspace: 'w0', account: 'a0' },
  { key: 'k1', workspace: 'w0', account: 'a0' },
  { key: 'k2', workspace: 'w1', account: 'a0' },
  { key: 'k3', workspace: 'w2', account: 'a1' },
] as const;

const nanos = fc.bigInt({ min: 0n, max: 60n });
const amounts: fc.Arbitrary<Amount> = fc.record({
  creditNanos: nanos,
  byokNanos: fc.oneof({ weight: 3, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: nanos }),
});
const limit: fc.Arbitrary<Limit> = fc.record({
  window: fc.constantFrom(...LIMIT_WINDOWS),
  nanos: fc.bigInt({ min: 0n, max: 200n }),
  countsByok: fc.boolean(),
});
const limits: fc.Arbitrary<Limits> = fc.record({
  key: fc.array(limit, { maxLength: 1 }),
  workspace: fc.array(limit, { maxLength: 3 }),
});

type Step = (books: Books, atMs: number) => LedgerRecord | undefined;

interface TimedStep {
  readonly step: Step;
  /** Hours that the clock goes forward before it, or back. */
  readonly hours: number;
}

const recordOf = (outcome: { ok: boolean; record?: LedgerRecord }) => outcome.record;

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ scopes: fc.constantFrom(...OWNERS), amount: amounts, limits }).map(
    (wish): Step =>
      (books, atMs) => {
        // Ids are never used twice.
        const generationId = `g${books.snapshot().sequence}`;
        return recordOf(books.reserve({ ...wish, generationId, row: { id: generationId }, atMs }));
      },
  ),
  fc.tuple(fc.nat(20), amounts).map(
    ([index, more]): Step =>
      (books, atMs) =>
        recordOf(books.topUp(openAt(books, index), () => more, atMs)),
  ),
  fc.tuple(fc.nat(20), amounts).map(
    ([index, used]): Step =>
      (books, atMs) =>
        recordOf(books.checkpoint(openAt(books, index), { used, row: { index }, atMs })),
  ),
  fc.tuple(fc.nat(20), amounts).map(
    ([index, used]): Step =>
      (books, atMs) =>
        recordOf(books.settle(openAt(books, index), { used, row: { index }, atMs })),
  ),
  fc.nat(20).map(
    (index): Step =>
      (books, atMs) =>
        recordOf(books.void(openAt(books, index), atMs)),
  ),
  fc.tuple(fc.constantFrom('a0', 'a1'), fc.option(fc.bigInt({ min: -20n, max: 300n }))).map(
    ([account, left]): Step =>
      (books, atMs) =>
        recordOf(books.grant(account, left, atMs)),
  ),
  fc.constantFrom(...OWNERS).map(
    ({ key }): Step =>
      (books, atMs) =>
        recordOf(books.forget('key', key, atMs)),
  ),
);

const histories: fc.Arbitrary<TimedStep[]> = fc.array(
  fc.record({ step: steps, hours: fc.integer({ min: -3, max: 12 }) }),
  { maxLength: 60 },
);

function openAt(books: Books, index: number): string {
  const ids = [...books.open.keys()];
  return ids[index % Math.max(1, ids.length)] ?? 'nobody';
}

/** Plays a history. Calls `between` after every step. */
function play(history: readonly TimedStep[], between: (books: Books) => void = () => {}) {
  const books = new Books();
  const records: LedgerRecord[] = [];
  let atMs = START;
  for (const { step, hours } of history) {
    atMs += hours * HOUR;
    const record = step(books, atMs);
    if (record !== undefined) records.push(record);
    between(books);
  }
  return { books, records, atMs };
}

function replay(records: readonly LedgerRecord[], books = new Books()): Books {
  for (const record of records) books.apply(record);
  return books;
}

/** State of the books. The order of tallies has no meaning, so they are compared by id. */
function stateOf(books: Books) {
  const { tallies, ...rest } = books.snapshot();
  return { ...rest, tallies: SCOPES.map((scope) => new Map(tallies[scope])) };
}

const throughBytes = (records: readonly LedgerRecord[]) =>
  records.map((record) => decodeRecord(encodeRecord(record)));
const throughLines = (books: Books) => new Books(parseSnapshot([...renderSnapshot(books.snapshot())]));

describe('books', () => {
  it('count no less after a settlement than before, however old it is and wherever clocks were', () => {
    const days = fc.integer({ min: -400, max: 400 });
    const settlements = fc.array(fc.record({ days, amount: amounts }), { maxLength: 12 });
    fc.assert(
      fc.property(settlements, days, (history, nowDays) => {
        const books = new Books();
        const [scopes] = OWNERS;
        history.forEach(({ days: ofDays, amount }, index) => {
          const atMs = START + ofDays * 24 * HOUR;
          const nowMs = Math.max(atMs, START + nowDays * 24 * HOUR);
          const counted = () =>
            (['key', 'workspace', 'account'] as const).flatMap((scope) => {
              const { credit, byok } = books.spendingOf(scope, scopes[scope], nowMs);
              return LIMIT_WINDOWS.map((window) => credit[window] + byok[window]);
            });
          const before = counted();
          const generationId = `g${index}`;
          books.reserve({ generationId, scopes, limits: { key: [], workspace: [] }, amount, row: {}, atMs });
          books.settle(generationId, { used: amount, row: {}, atMs });
          for (const [place, sum] of counted().entries()) {
            expect(sum).toBeGreaterThanOrEqual(before[place] ?? 0n);
          }
        });
      }),
    );
  });

  it('are equal after their records were read back', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { books, records } = play(history);
        expect(stateOf(replay(throughBytes(records)))).toEqual(stateOf(books));
      }),
    );
  });

  it('are equal after a snapshot and the records from anywhere before its end', () => {
    fc.assert(
      fc.property(histories, fc.nat(60), fc.nat(60), (history, cut, from) => {
        const { books, records } = play(history);
        const taken = cut % (records.length + 1);
        const restored = throughLines(replay(records.slice(0, taken)));
        replay(records.slice(Math.min(from, taken)), restored);
        expect(stateOf(restored)).toEqual(stateOf(books));
      }),
    );
  });

  it('are equal after a run of records that came twice', () => {
    fc.assert(
      fc.property(histories, fc.nat(60), fc.nat(60), (history, one, other) => {
        const { books, records } = play(history);
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const twice = [...records.slice(0, to), ...records.slice(from, to), ...records.slice(to)];
        expect(stateOf(replay(twice))).toEqual(stateOf(books));
      }),
    );
  });

  it('are equal after one record came again, late', () => {
    fc.assert(
      fc.property(histories, fc.nat(60), fc.nat(60), (history, which, where) => {
        const { books, records } = play(history);
        const again = records[which % Math.max(1, records.length)];
        const place = Math.max(which % Math.max(1, records.length), where % (records.length + 1)) + 1;
        const late = again === undefined ? [] : records.toSpliced(place, 0, again);
        expect(stateOf(replay(late))).toEqual(stateOf(books));
      }),
    );
  });

  it('keep the equation of every account to the nano, and reserve for a scope what its generations hold', () => {
    fc.assert(
      fc.property(histories, (history) => {
        play(history, (books) => {
          for (const statement of books.verify()) {
            expect(statement.differenceNanos).toBe(0n);
            expect(books.statementOf(statement.accountId)).toEqual(statement);
          }
          expect(stateOf(throughLines(books))).toEqual(stateOf(books));
        });
      }),
    );
  });

  it('read back a tally whose first open generation reserved nothing', () => {
    const books = new Books();
    const [scopes] = OWNERS;
    const open = { scopes, limits: { key: [], workspace: [] }, row: {}, atMs: START };
    books.reserve({ ...open, generationId: 'g0', amount: { creditNanos: 0n, byokNanos: 0n } });
    books.reserve({ ...open, generationId: 'g1', amount: { creditNanos: 5n, byokNanos: 0n } });
    books.reserve({
      ...open,
      generationId: 'g2',
      scopes: OWNERS[3],
      amount: { creditNanos: 1n, byokNanos: 0n },
    });
    expect(stateOf(throughLines(books))).toEqual(stateOf(books));
  });

  it('read back a tally that was settled for nothing, beside generations that reserved nothing and something', () => {
    const books = new Books();
    const [scopes] = OWNERS;
    const open = { scopes, limits: { key: [], workspace: [] }, row: {}, atMs: START };
    for (const [generationId, creditNanos] of [
      ['g0', 0n],
      ['g1', 1n],
      ['g2', 1n],
    ] as const) {
      books.reserve({ ...open, generationId, amount: { creditNanos, byokNanos: 0n } });
    }
    books.settle('g2', { used: { creditNanos: 0n, byokNanos: 0n }, row: {}, atMs: START });
    expect(stateOf(throughLines(books))).toEqual(stateOf(books));
  });

  it('are not changed by a refusal', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const books = new Books();
        let atMs = START;
        for (const { step, hours } of history) {
          atMs += hours * HOUR;
          const before = stateOf(books);
          if (step(books, atMs) === undefined) expect(stateOf(books)).toEqual(before);
        }
      }),
    );
  });

  it('compute exactly what is affordable', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...OWNERS), limits, (history, scopes, limits) => {
        const { books, atMs } = play(history);
        const { creditNanos, totalNanos } = books.headroom({ scopes, limits, atMs }).affordable;
        const passes = (amount: Amount) =>
          throughLines(books).reserve({ generationId: 'new', scopes, limits, amount, row: {}, atMs }).ok;
        for (const credit of new Set([0n, 1n, creditNanos ?? 1n, (creditNanos ?? 1n) + 1n])) {
          for (const byok of new Set([0n, (totalNanos ?? 5n) - credit, (totalNanos ?? 5n) - credit + 1n])) {
            if (byok < 0n) continue;
            const fits =
              (creditNanos === null || credit <= creditNanos) &&
              (totalNanos === null || credit + byok <= totalNanos);
            expect(passes({ creditNanos: credit, byokNanos: byok })).toBe(fits);
          }
        }
      }),
    );
  });
});

describe('200 generations that race', () => {
  const race = fc.record({
    /** What each reserves, uses in the end (more or less than that), and when it does so, among the others. */
    runners: fc.array(
      fc.record({
        owner: fc.constantFrom(...OWNERS.slice(0, 3)),
        reserved: nanos,
        more: nanos,
        used: fc.bigInt({ min: 0n, max: 150n }),
        order: fc.tuple(fc.double({ noNaN: true }), fc.double({ noNaN: true }), fc.double({ noNaN: true })),
      }),
      { minLength: 200, maxLength: 200 },
    ),
    keyNanos: fc.bigInt({ min: 0n, max: 2_000n }),
    workspaceNanos: fc.bigInt({ min: 0n, max: 2_000n }),
    accountNanos: fc.bigInt({ min: 0n, max: 2_000n }),
  });

  it('never spend more than a key, a workspace or an account may', () => {
    fc.assert(
      fc.property(race, ({ runners, keyNanos, workspaceNanos, accountNanos }) => {
        const books = new Books();
        books.grant('a0', accountNanos, START);
        const limits: Limits = {
          key: [{ window: 'daily', nanos: keyNanos, countsByok: false }],
          workspace: [{ window: 'lifetime', nanos: workspaceNanos, countsByok: false }],
        };
        const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });
        const acts = runners.flatMap(({ owner, reserved, more, used, order }, index) => {
          const generationId = `g${index}`;
          const [first, second, third] = [...order].sort((one, other) => one - other);
          return [
            {
              at: first!,
              act: () =>
                books.reserve({
                  generationId,
                  scopes: owner,
                  limits,
                  amount: credit(reserved),
                  row: {},
                  atMs: START,
                }),
            },
            { at: second!, act: () => books.topUp(generationId, () => credit(more), START) },
            {
              at: third!,
              act: () => books.settle(generationId, { used: credit(used), row: {}, atMs: START }),
            },
          ];
        });
        let settled = 0n;
        for (const { act } of acts.sort((one, other) => one.at - other.at)) {
          const outcome = act();
          if (outcome.ok && outcome.record.kind === 'settle') settled += outcome.record.charge.creditNanos;
          expect(books.statementOf('a0').leftNanos).toBeGreaterThanOrEqual(0n);
        }
        expect(settled).toBe(books.statementOf('a0').settledNanos);
        expect(settled).toBeLessThanOrEqual(accountNanos);
        for (const { key, workspace } of OWNERS) {
          expect(books.spendingOf('key', key, START).credit.daily).toBeLessThanOrEqual(keyNanos);
          expect(books.spendingOf('workspace', workspace, START).credit.lifetime).toBeLessThanOrEqual(
            workspaceNanos,
          );
        }
        expect(books.verify()).toMatchObject([{ differenceNanos: 0n }]);
      }),
      { numRuns: 30 },
    );
  });

  it('admit exactly as many as the limit pays for', () => {
    const books = new Books();
    const limits: Limits = {
      key: [{ window: 'lifetime', nanos: 10_000_000n, countsByok: false }],
      workspace: [],
    };
    const amount = { creditNanos: 4_000_000n, byokNanos: 0n };
    const passed = Array.from({ length: 200 }, (_, index) =>
      books.reserve({ generationId: `g${index}`, scopes: OWNERS[0], limits, amount, row: {}, atMs: START }),
    ).filter(({ ok }) => ok);
    expect(passed).toHaveLength(2);
  });
});

describe('a snapshot in lines', () => {
  const lines = () => {
    const { books } = play([]);
    books.grant('a0', 5n, START);
    return [...renderSnapshot(books.snapshot())];
  };

  it.each([
    ['without its end', (all: string[]) => all.slice(0, -1), 'end is missing'],
    ['without a line', (all: string[]) => all.toSpliced(1, 1), '3 lines of 4'],
    ['without its beginning', (all: string[]) => all.slice(1), 'line 1: balance is not expected here'],
    ['that is empty', () => [], 'end is missing'],
    ['with a strange line', (all: string[]) => all.with(1, '{"refund":1}'), 'line 2: unknown line "refund"'],
    ['with a broken line', (all: string[]) => all.with(1, '{"balance":'), 'line 2: unknown line "undefined"'],
    [
      'of another version',
      (all: string[]) => all.with(0, '{"books":{"version":9,"sequence":1}}'),
      'version 9',
    ],
    [
      'with a damaged value',
      (all: string[]) => all.with(1, '{"balance":{"accountId":1}}'),
      'balance.accountId',
    ],
  ])('%s is refused', (_what, damage, message) => {
    expect(() => parseSnapshot(damage(lines()))).toThrow(message);
  });
});
