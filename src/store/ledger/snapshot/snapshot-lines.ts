import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { quoted } from '../../../kit/text/quoted.ts';
import type { WindowNumbers } from '../../../kit/time/windows.ts';
import type { Scope, Spending, Sums } from '../../../ports/money/ledger.ts';
import type { Balance } from '../books/balance.ts';
import type { BooksSnapshot } from '../books/books-state.ts';
import { SCOPES } from '../books/limits.ts';
import type { Checkpoint, OpenGeneration } from '../books/open-generation.ts';
import type { TallyEntry } from '../books/tallies.ts';
import {
  booleanCodec,
  type Codec,
  enumCodec,
  inside,
  integerCodec,
  LedgerDataProblem,
  membersCodec,
  nanosCodec,
  nullableCodec,
  objectCodec,
  optionalCodec,
  textCodec,
  textsCodec,
} from '../records/codec.ts';
import { amountCodec, limitsCodec, scopesCodec } from '../records/money-codecs.ts';

interface Lines {
  /** The first line. */
  readonly books: { readonly version: number; readonly sequence: number };
  readonly tally: {
    readonly scope: Scope;
    readonly id: string;
    readonly spending: Spending;
    readonly sequence: number;
  };
  readonly balance: Balance & { readonly accountId: string };
  readonly open: OpenGeneration;
  readonly ended: { readonly half: Half; readonly ids: readonly string[] };
  /** The last line, with the number of lines before it. */
  readonly end: { readonly lines: number };
}

type Half = keyof BooksSnapshot['ended'];

const VERSION = 1;

const sumsCodec = membersCodec<Sums>({
  lifetime: nanosCodec,
  daily: nanosCodec,
  weekly: nanosCodec,
  monthly: nanosCodec,
});

const spendingCodec = membersCodec<Spending>({
  windows: membersCodec<WindowNumbers>({ daily: integerCodec, weekly: integerCodec, monthly: integerCodec }),
  credit: sumsCodec,
  byok: sumsCodec,
});

const checkpointCodec = membersCodec<Checkpoint>({
  spent: amountCodec,
  atMs: integerCodec,
  row: objectCodec,
  sequence: integerCodec,
});

const CODECS: { readonly [K in keyof Lines]: Codec<Lines[K]> } = {
  books: membersCodec<Lines['books']>({ version: integerCodec, sequence: integerCodec }),
  tally: membersCodec<Lines['tally']>({
    scope: enumCodec(...SCOPES),
    id: textCodec,
    spending: spendingCodec,
    sequence: integerCodec,
  }),
  balance: membersCodec<Lines['balance']>({
    accountId: textCodec,
    grantedNanos: nanosCodec,
    isEnforced: booleanCodec,
    leftNanos: nanosCodec,
    writtenOffNanos: optionalCodec(nanosCodec, 0n),
    sequence: integerCodec,
  }),
  open: membersCodec<OpenGeneration>({
    generationId: textCodec,
    scopes: scopesCodec,
    limits: limitsCodec,
    reserved: amountCodec,
    acceptedAtMs: integerCodec,
    row: objectCodec,
    checkpoint: nullableCodec(checkpointCodec),
  }),
  ended: membersCodec<Lines['ended']>({ half: enumCodec('older', 'recent'), ids: textsCodec }),
  end: membersCodec<Lines['end']>({ lines: integerCodec }),
};

/** Renders a snapshot as lines of JSON without newlines, lazily, so that the event loop is not blocked. */
export function* renderSnapshot(snapshot: BooksSnapshot): Generator<string, void, void> {
  let lines = 0;
  for (const line of contentOf(snapshot)) {
    lines += 1;
    yield line;
  }
  yield lineOf('end', { lines });
}

function* contentOf(snapshot: BooksSnapshot): Generator<string, void, void> {
  const { sequence, tallies, balances, open, ended } = snapshot;
  yield lineOf('books', { version: VERSION, sequence });
  for (const scope of SCOPES) {
    for (const [id, tally] of tallies[scope]) yield lineOf('tally', { scope, id, ...tally });
  }
  for (const [accountId, balance] of balances) yield lineOf('balance', { accountId, ...balance });
  for (const generation of open) yield lineOf('open', generation);
  yield lineOf('ended', { half: 'older', ids: ended.older });
  yield lineOf('ended', { half: 'recent', ids: ended.recent });
}

function lineOf<K extends keyof Lines>(name: K, value: Lines[K]): string {
  return `{${JSON.stringify(name)}:${CODECS[name].encode(value)}}`;
}

/** Handlers of each kind of line; the second argument is the line's number. */
type LineHandlers = { readonly [K in keyof Lines]: (value: Lines[K], number: number) => void };

/** Parses a snapshot. Throws LedgerDataProblem when a line is damaged or the end is missing. */
export function parseSnapshot(lines: Iterable<string>): BooksSnapshot {
  const snapshot = {
    sequence: 0,
    tallies: { key: [], member: [], workspace: [], account: [] } as Record<Scope, TallyEntry[]>,
    balances: [] as [string, Balance][],
    open: [] as OpenGeneration[],
    ended: { older: [], recent: [] } as Record<Half, readonly string[]>,
  };
  const handlers: LineHandlers = {
    books: ({ version, sequence }) => {
      assertVersion(version);
      snapshot.sequence = sequence;
    },
    tally: ({ scope, id, spending, sequence }) => snapshot.tallies[scope].push([id, { spending, sequence }]),
    balance: ({ accountId, ...balance }) => snapshot.balances.push([accountId, balance]),
    open: (generation) => snapshot.open.push(generation),
    ended: ({ half, ids }) => {
      snapshot.ended[half] = ids;
    },
    end: ({ lines: count }, number) => {
      if (count !== number - 1)
        throw new LedgerDataProblem(`snapshot of the ledger: ${number - 1} lines of ${count}`);
    },
  };
  const last = takeLines(lines, handlers);
  if (last !== 'end') throw new LedgerDataProblem('snapshot of the ledger: its end is missing');
  return snapshot;
}

/** Passes every line to its handler. Returns the kind of the last one. */
function takeLines(lines: Iterable<string>, handlers: LineHandlers): keyof Lines | undefined {
  let number = 0;
  let last: keyof Lines | undefined;
  for (const line of lines) {
    number += 1;
    const { name, json } = readLine(line, number);
    if ((name === 'books') !== (number === 1)) {
      throw new LedgerDataProblem(`snapshot of the ledger, line ${number}: ${name} is not expected here`);
    }
    takeLine(handlers, name, json, number);
    last = name;
  }
  return last;
}

function takeLine<K extends keyof Lines>(
  handlers: LineHandlers,
  name: K,
  json: Json | undefined,
  number: number,
): void {
  handlers[name](decodeLine(name, json, number), number);
}

function decodeLine<K extends keyof Lines>(name: K, json: Json | undefined, number: number): Lines[K] {
  try {
    return CODECS[name].decode(json);
  } catch (error) {
    throw inside(error, `snapshot of the ledger, line ${number}: ${name}`);
  }
}

function readLine(line: string, number: number): { name: keyof Lines; json: Json | undefined } {
  const object = parseObject(line);
  const name = Object.keys(object ?? {})[0];
  if (object === undefined || name === undefined || !Object.hasOwn(CODECS, name)) {
    throw new LedgerDataProblem(
      `snapshot of the ledger, line ${number}: unknown line ${quoted(String(name))}`,
    );
  }
  return { name: name as keyof Lines, json: object[name] };
}

function parseObject(line: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(line);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function assertVersion(version: number): void {
  if (version !== VERSION) {
    throw new LedgerDataProblem(
      `snapshot of the ledger of version ${version}; this gateway reads version ${VERSION}: start the ` +
        'newer one that wrote it',
    );
  }
}
