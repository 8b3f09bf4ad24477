import type { ComponentChildren } from 'preact';
import { Link } from '../../address/link.tsx';
import { columnMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { clockTime, dateTime, duration } from '../../format/times.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import type { LogSort } from './log-order.ts';
import { errorText, modelParts, STATES } from './log-words.ts';
import { RowMarks } from './row-marks.tsx';
import type { ShownGeneration } from './shown-generation.ts';

/** A column of the log. */
export interface LogColumn {
  readonly id: string;
  readonly title: string;
  /** Class of its width and of the order in which columns leave a narrow list. */
  readonly width: string;
  /** Class of its cells. */
  readonly class: string | ((row: ShownGeneration) => string);
  /** `always`: cannot be hidden. `no`: hidden until the reader chooses it. */
  readonly isShown: 'always' | 'yes' | 'no';
  readonly cell: (row: ShownGeneration, href: string) => ComponentChildren;
  /** What a click on its head puts the log in order of. */
  readonly sort?: LogSort;
  /** The whole value, for hovering. */
  readonly hint?: (row: ShownGeneration) => string | undefined;
}

const text = (value: string | null): string => value ?? '–';

/** A column that the reader can add: a text that may be long. */
const further = (id: string, title: string, of: (row: ShownGeneration) => string | null): LogColumn => ({
  id,
  title,
  width: 'o3 c-120',
  class: 'o3 cut dim',
  isShown: 'no',
  cell: (row) => text(of(row)),
  hint: (row) => of(row) ?? undefined,
});

/** All columns, in their order. */
export const LOG_COLUMNS: readonly LogColumn[] = [
  {
    id: 'state',
    title: 'State',
    width: 'st',
    class: 'st',
    isShown: 'always',
    cell: ({ state }) => (
      <>
        <span class={`dot ${STATES[state].dot}`} title={STATES[state].text} />
        <span class="vh">{STATES[state].text}</span>
      </>
    ),
  },
  {
    id: 'time',
    title: 'Time',
    width: 'tm',
    class: 'tm nw',
    isShown: 'always',
    sort: 'created_at',
    cell: timeCell,
  },
  {
    id: 'model',
    title: 'Model',
    width: 'c-mod',
    class: 'cut',
    isShown: 'always',
    cell: modelCell,
    hint: ({ model }) => model,
  },
  {
    id: 'provider',
    title: 'Provider',
    width: 'o2',
    class: ({ state }) => `o2 cut ${FAILURE_CLASS[state] ?? 'prov'}`,
    isShown: 'yes',
    cell: (row) => failureOf(row) ?? text(row.provider_name),
    hint: (row) => failureOf(row) ?? row.endpoint ?? undefined,
  },
  {
    id: 'key',
    title: 'Key',
    width: 'o1 c-key',
    class: 'o1 cut',
    isShown: 'yes',
    cell: ({ key_name, key_hash }) => text(key_name ?? key_hash?.slice(0, 8) ?? null),
    hint: ({ key_name, key_hash }) =>
      key_hash === null ? undefined : `${key_name ?? 'A key that is gone'}, hash ${key_hash}`,
  },
  further('workspace', 'Workspace', ({ workspace_name }) => workspace_name),
  further('app', 'App', ({ app }) => app),
  further('session', 'Session', ({ session_id }) => session_id),
  further('user', 'End user', ({ external_user }) => external_user),
  further('request', 'Request id', ({ request_id }) => request_id),
  further('trace', 'Trace', ({ trace_id }) => trace_id),
  further('finish', 'Finish', ({ finish_reason }) => finish_reason),
  {
    id: 'format',
    title: 'Format',
    width: 'o4 c-84',
    class: 'o4 dim',
    isShown: 'yes',
    cell: ({ request_format }) => text(request_format),
  },
  {
    id: 'tokens',
    title: 'Tokens in → out',
    width: 'o3 c-140',
    class: 'o3 num',
    isShown: 'yes',
    cell: ({ tokens_prompt, tokens_completion }) => (
      <>
        {count(tokens_prompt)} <span class="dim">→</span> {count(tokens_completion)}
      </>
    ),
  },
  {
    id: 'cached',
    title: 'Cached',
    width: 'o3 c-84',
    class: 'o3 num',
    isShown: 'no',
    cell: ({ tokens_cached }) => count(tokens_cached),
  },
  {
    id: 'first',
    title: 'First token',
    width: 'o2-wide c-84',
    class: 'o2-wide num',
    isShown: 'yes',
    sort: 'latency',
    cell: ({ latency }) => shownDuration(latency),
  },
  {
    id: 'total',
    title: 'Total',
    width: 'c-84',
    class: 'num',
    isShown: 'yes',
    sort: 'duration_ms',
    cell: ({ duration_ms }) => shownDuration(duration_ms),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 'c-104',
    class: 'num cst',
    isShown: 'always',
    sort: 'cost',
    cell: costCell,
  },
];

/** The column of the time for rows that are not in its order: no row above them names their day. */
export const DATED_TIME: Pick<LogColumn, 'cell'> = {
  cell: ({ created_at }, href) => (
    <Link class="plain" href={href}>
      {dateTime(Date.parse(created_at))}
    </Link>
  ),
};

/** What it cost; while it runs, what it may cost. */
export function costCell({ cost, reserved }: ShownGeneration): ComponentChildren {
  if (reserved === undefined) return <MoneyText money={columnMoney(cost)} />;
  return (
    <span class="dim nw">
      ≤ <MoneyText money={columnMoney(reserved)} />
    </span>
  );
}

export function shownDuration(ms: number | null): string {
  return ms === null ? '–' : duration(ms);
}

/** What the caller got for a failure or a refusal, with how many requests the row stands for; undefined = an answer. */
export function failureOf(row: ShownGeneration): string | undefined {
  if (FAILURE_CLASS[row.state] === undefined) return undefined;
  const words = errorText(row.error_status, row.error_type);
  const requests = row.refused_requests ?? 1;
  return requests === 1 ? words : `${count(requests)} × ${words}`;
}

/** The colour of what a row has in place of a provider. */
export const FAILURE_CLASS: Readonly<Partial<Record<ShownGeneration['state'], string>>> = {
  failed: 'bad',
  refused: 'warn',
};

function timeCell({ created_at }: ShownGeneration, href: string): ComponentChildren {
  const time = clockTime(Date.parse(created_at));
  return (
    <Link class="plain" href={href}>
      {time.slice(0, 8)}
      <span class="dim">{time.slice(8)}</span>
    </Link>
  );
}

function modelCell(row: ShownGeneration): ComponentChildren {
  const { author, name } = modelParts(row.model);
  const failure = FAILURE_CLASS[row.state];
  return (
    <>
      <span class="dim au">{author}</span>
      {name === '' ? <span class="dim">no model read</span> : name}{' '}
      {failure !== undefined && <span class={`only-n ${failure}`}>{row.error_status ?? row.state}</span>}
      <RowMarks row={row} />
    </>
  );
}
