/** What a request costs: averages of the requests of a window. */
export interface Costs {
  /** KB of JavaScript objects made on the main thread until the request is settled. */
  readonly heapKb: number;
  readonly promises: number;
  readonly timers: number;
  /** Calls into libuv's pool: files, names, random bytes, compression. */
  readonly poolCalls: number;
  /** Reads and writes of the main thread, by the system's own account. */
  readonly reads: number;
  readonly writes: number;
  readonly syncs: number;
  /** Of the process that has the journal. */
  readonly journalRecords?: number;
  readonly journalBytes?: number;
  /** With those that store rows and events afterwards, for one batch of the window's requests. */
  readonly statements: number;
  readonly threadMessages: number;
  /** Messages between a worker and its owner that this process sent. */
  readonly processMessages: number;
  /** System calls of the main thread that do not wait, by kind; absent where strace is missing or forbidden. */
  readonly systemCalls?: Readonly<Record<string, number>>;
}

/** Costs by the name of the case. */
export type CostTable = Readonly<Record<string, Costs>>;

type Counter = Exclude<keyof Costs, 'systemCalls'>;

/**
 * A counter: its name in the table, and the share by which it may differ. 0 = what each request has a whole number of:
 * the rest of a window, such as the questions of the measurement itself, is left out.
 */
interface CounterRow {
  readonly title: string;
  readonly tolerance: number;
  /** By how much small figures may differ in any case. */
  readonly slack?: number;
}

const COUNTERS: Readonly<Record<Counter, CounterRow>> = {
  heapKb: { title: 'heap, KB', tolerance: 0.03, slack: 2 },
  promises: { title: 'promises', tolerance: 0 },
  timers: { title: 'timers', tolerance: 0 },
  poolCalls: { title: 'pool calls', tolerance: 0 },
  reads: { title: 'reads', tolerance: 0 },
  writes: { title: 'writes', tolerance: 0 },
  syncs: { title: 'syncs', tolerance: 0 },
  journalRecords: { title: 'journal records', tolerance: 0 },
  journalBytes: { title: 'journal bytes', tolerance: 0.03 },
  statements: { title: 'statements', tolerance: 0.03, slack: 0.1 },
  threadMessages: { title: 'messages to threads', tolerance: 0.03, slack: 0.1 },
  processMessages: { title: 'messages to processes', tolerance: 0 },
};

const counters = Object.keys(COUNTERS) as Counter[];

/** Costs as they stand in the table. */
export function rounded(costs: Costs): Costs {
  const figures = counters.flatMap((counter) => {
    const cost = costs[counter];
    if (cost === undefined) return [];
    return [[counter, COUNTERS[counter].tolerance === 0 ? Math.floor(cost) : Number(cost.toFixed(2))]];
  });
  return { ...costs, ...Object.fromEntries(figures) };
}

/** A counter that is no longer what the table says; undefined = it or its case is not there. */
export interface Change {
  readonly name: string;
  readonly counter: string;
  readonly before: number | undefined;
  readonly now: number | undefined;
}

/** Compares rounded costs with the table. System calls are compared if both sides have them. */
export function changesOf(table: CostTable, measured: CostTable): Change[] {
  const names = [...new Set([...Object.keys(table), ...Object.keys(measured)])];
  return names.flatMap((name) => {
    const [before, now] = [table[name], measured[name]];
    if (before === undefined || now === undefined)
      return [{ name, counter: COUNTERS.heapKb.title, before: before?.heapKb, now: now?.heapKb }];
    const plain = counters.flatMap((counter) => {
      const { title, ...allowed } = COUNTERS[counter];
      return changeOf({ name, counter: title, before: before[counter], now: now[counter] }, allowed);
    });
    return [...plain, ...systemCallChanges(name, before.systemCalls, now.systemCalls)];
  });
}

function systemCallChanges(
  name: string,
  before: Costs['systemCalls'],
  now: Costs['systemCalls'],
): readonly Change[] {
  if (before === undefined || now === undefined) return [];
  const kinds = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return kinds.flatMap((kind) =>
    changeOf(
      { name, counter: `system calls ${kind}`, before: before[kind] ?? 0, now: now[kind] ?? 0 },
      { tolerance: 0 },
    ),
  );
}

/** What sums of decimal fractions are off by: 1.3 is more than 0.1 above 1.2. */
const ROUNDING = 1e-9;

function changeOf(change: Change, { tolerance, slack = 0 }: Omit<CounterRow, 'title'>): readonly Change[] {
  const { before, now } = change;
  if (before === now) return [];
  if (before === undefined || now === undefined) return [change];
  return Math.abs(now - before) <= Math.max(before * tolerance, slack) + ROUNDING ? [] : [change];
}

/** What has changed and what to do about it, for a person. */
export function changesText(changes: readonly Change[]): string {
  const lines = changes.map(({ name, counter, before, now }) => {
    if (before === undefined) return `${name}: ${counter} is ${now}, and the table has no such figure`;
    if (now === undefined) return `${name}: ${counter} was ${before} and is no longer measured`;
    const change = now > before ? 'rose' : 'fell (good)';
    return `${name}: ${counter} ${change} from ${before} to ${now} a request`;
  });
  const hasRise = changes.some(({ before, now }) => (now ?? 0) > (before ?? 0));
  const toDo = hasRise
    ? 'Something costs every such request more. If it does not apply to the request, let it cost nothing there. ' +
      'If it is worth its price, write the table with `npm run cost -- --write` and say why in the commit.'
    : 'Write the table with `npm run cost -- --write` and commit it, so that it stays so.';
  return [...lines, toDo].join('\n');
}

/** The table for a terminal or a page, a row for each case. */
export function costsText(table: CostTable): string {
  const head = ['', ...counters.map((counter) => COUNTERS[counter].title), 'system calls'];
  const rows = Object.entries(table).map(([name, costs]) => [
    name,
    ...counters.map((counter) => String(costs[counter] ?? '')),
    Object.entries(costs.systemCalls ?? {})
      .map(([kind, count]) => `${kind} ${count}`)
      .join(', '),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
