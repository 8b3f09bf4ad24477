import {
  keyChoices,
  modelChoices,
  providerChoices,
  workspaceChoices,
} from '../../parts/filters/dictionaries.ts';
import { type FilterChoice, type FilterField, filtersOf } from '../../parts/filters/filter-fields.ts';

const among = (...values: readonly string[]) => {
  const choices: readonly FilterChoice[] = values.map((value) => ({ value, label: value }));
  return () => Promise.resolve(choices);
};

const STATES: readonly FilterChoice[] = [
  { value: 'answered', label: 'answered' },
  { value: 'fallback', label: 'after a fallback' },
  { value: 'failed', label: 'failed' },
  { value: 'cancelled', label: 'cancelled' },
  { value: 'refused', label: 'refused' },
];

/** What the log can be filtered by. The names are those of the interface, but for durations, which are typed in seconds. */
const FIELDS: readonly FilterField[] = [
  { name: 'state', label: 'state', kind: 'choice', isClosed: true, choices: () => Promise.resolve(STATES) },
  { name: 'model', label: 'model', kind: 'choice', choices: modelChoices },
  { name: 'provider', label: 'provider', kind: 'choice', choices: providerChoices },
  { name: 'app', label: 'app', kind: 'choice' },
  { name: 'session_id', label: 'session', kind: 'text' },
  { name: 'external_user', label: 'end user', kind: 'text' },
  { name: 'trace_id', label: 'trace', kind: 'text' },
  { name: 'min_seconds', label: 'duration', kind: 'number', operator: 'at least', unit: ' s' },
  { name: 'max_seconds', label: 'duration', kind: 'number', operator: 'at most', unit: ' s' },
  { name: 'min_cost', label: 'cost', kind: 'number', operator: 'at least', unit: ' USD' },
  { name: 'max_cost', label: 'cost', kind: 'number', operator: 'at most', unit: ' USD' },
  {
    name: 'request_format',
    label: 'format',
    kind: 'choice',
    isClosed: true,
    choices: among('responses', 'messages', 'chat', 'embeddings', 'decisions', 'compaction'),
  },
  {
    name: 'finish_reason',
    label: 'finish reason',
    kind: 'choice',
    choices: among('stop', 'length', 'tool_calls', 'content_filter', 'error'),
  },
  {
    name: 'error_status',
    label: 'error',
    kind: 'choice',
    choices: among('401', '402', '403', '413', '429', '502', '503', '524', '529'),
  },
];

/** Fields that only a management key has values of. */
const OF_ACCOUNT: readonly FilterField[] = [
  { name: 'workspace', label: 'workspace', kind: 'choice', choices: workspaceChoices },
  { name: 'key', label: 'key', kind: 'choice', choices: keyChoices },
];

const ALL_FIELDS = [...OF_ACCOUNT, ...FIELDS];

export function logFields(isManagement: boolean): readonly FilterField[] {
  return isManagement ? ALL_FIELDS : FIELDS;
}

const MILLISECONDS: Readonly<Record<string, string>> = {
  min_seconds: 'min_duration_ms',
  max_seconds: 'max_duration_ms',
};

/** The filters of an address as parameters of the interface, without its range. */
export function logParameters(
  query: URLSearchParams,
  fields: readonly FilterField[] = ALL_FIELDS,
): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = {};
  for (const { field, values } of filtersOf(query, fields)) {
    const inMs = MILLISECONDS[field.name];
    const [first = ''] = values;
    if (inMs === undefined) parameters[field.name] = field.kind === 'choice' ? values.join(',') : first;
    else parameters[inMs] = String(Math.round(Number(first) * 1_000));
  }
  const search = query.get('search')?.trim() ?? '';
  if (search !== '') parameters.search = search;
  return parameters;
}

/** Parameters that say something of a generation from its beginning on. */
const OF_RUNNING = new Set(
  'model provider key workspace app session_id external_user request_format trace_id search'.split(' '),
);

/** False if a filter concerns the end, such as the cost: no running generation can match it. */
export function canFilterRunning(parameters: Readonly<Record<string, string>>): boolean {
  return Object.keys(parameters).every((name) => OF_RUNNING.has(name));
}
