import type { Limits } from '../src/ports/money/ledger.ts';
import { Books } from '../src/store/ledger/books/books.ts';
import { decodeRecord, encodeRecord, type LedgerRecord } from '../src/store/ledger/records/records.ts';
import { parseSnapshot, renderSnapshot } from '../src/store/ledger/snapshot/snapshot-lines.ts';

/**
 * What the books cost a request: reserving and settling among 10,000 keys that all have limits, writing and reading
 * their records, and what a snapshot takes.
 */
const KEYS = 10_000;
const GENERATIONS = 300_000;
const NOW = Date.parse('2025-06-18T12:00:00Z');

const limits: Limits = {
  key: [{ window: 'monthly', nanos: 10n ** 15n, countsByok: true }],
  workspace: [
    { window: 'daily', nanos: 10n ** 15n, countsByok: false },
    { window: 'lifetime', nanos: 10n ** 17n, countsByok: false },
  ],
};
const amount = { creditNanos: 40_000_000n, byokNanos: 0n };
const used = { creditNanos: 1_234_567n, byokNanos: 0n };

/** About the size of a generation's row. */
const row = Object.fromEntries(
  Array.from({ length: 45 }, (_, index) => [
    `column_${index}`,
    index % 3 === 0 ? null : index % 3 === 1 ? index * 17 : 'some text',
  ]),
);

const owners = Array.from({ length: KEYS }, (_, index) => ({
  key: index.toString(16).padStart(64, '0'),
  workspace: `workspace-${index % 500}`,
  account: `account-${index % 50}`,
}));

function gatheredHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const ROUNDS = 1_000;

/**
 * Wall time of one of `count`, in the best and in the middle one of many rounds: where others are busy on the machine
 * the best one is what it takes, the middle one what it took.
 */
function timed(label: string, count: number, work: (index: number) => void, rounds = ROUNDS): void {
  const perRound = Math.max(1, Math.floor(count / rounds));
  const micros = Array.from({ length: rounds }, (_, round) => {
    const start = performance.now();
    for (let index = round * perRound; index < (round + 1) * perRound; index++) work(index);
    return ((performance.now() - start) * 1000) / perRound;
  }).sort((one, other) => one - other);
  const shown = [micros[0]!, micros[rounds >> 1]!].map((value) => value.toFixed(2).padStart(10));
  console.log(`${label.padEnd(32)} best ${shown[0]} us, middle ${shown[1]} us`);
}

const books = new Books();
for (let account = 0; account < 50; account++) books.grant(`account-${account}`, 10n ** 18n, NOW);

function generation(index: number): void {
  const generationId = `gen-${index}`;
  const scopes = owners[(index * 7919) % KEYS]!;
  books.reserve({ generationId, scopes, limits, amount, row, atMs: NOW + index });
  books.settle(generationId, { used, row, atMs: NOW + index });
}

const before = gatheredHeap();
for (let index = 0; index < KEYS * 4; index++) generation(index);
const after = gatheredHeap();
if (globalThis.gc !== undefined) {
  console.log(`heap of a key, ended ids included: ${Math.round((after - before) / KEYS)} bytes`);
}
timed('reserve and settle', GENERATIONS, (index) => generation(KEYS * 4 + index));

const records: LedgerRecord[] = [];
for (let index = 0; index < 30_000; index++) {
  const generationId = `record-${index}`;
  const scopes = owners[index % KEYS]!;
  const accepted = books.reserve({ generationId, scopes, limits, amount, row: {}, atMs: NOW });
  const settled = books.settle(generationId, { used, row, atMs: NOW });
  if (accepted.ok && settled.ok) records.push(accepted.record, settled.record);
}
for (const kind of ['accept', 'settle'] as const) {
  const some = records.filter((record) => record.kind === kind);
  const bytes = some.map(encodeRecord);
  timed(`encode ${kind} (${bytes[0]!.length} bytes)`, some.length, (index) => encodeRecord(some[index]!));
  timed(`decode ${kind}`, some.length, (index) => decodeRecord(bytes[index]!));
}
const replayed = new Books();
timed('apply a record', records.length, (index) => replayed.apply(records[index]!));

const lines = [...renderSnapshot(books.snapshot())];
console.log(
  `snapshot: ${lines.length} lines, ${lines.reduce((sum, line) => sum + line.length, 0)} characters`,
);
timed('take it', 10, () => books.snapshot(), 10);
timed('render all its lines', 10, () => [...renderSnapshot(books.snapshot())], 10);
timed('parse all its lines', 10, () => new Books(parseSnapshot(lines)), 10);
