import type { GenerationRecord } from '../../../api/contract.ts';
import type { ShownGeneration } from '../shown-generation.ts';

/** One fact about the caller of a generation, and the filter that finds all generations with it. */
export interface CallerFilter {
  readonly label: string;
  readonly text: string;
  /** Parameters of the log's address; null = the reader cannot filter by it. */
  readonly filter: Readonly<Record<string, string>> | null;
  /** The whole value. */
  readonly hint: string;
}

/** Digits of the hash of a key that has no name any more. */
const HASH_DIGITS = 8;

type Row = Pick<
  ShownGeneration,
  'key_hash' | 'key_name' | 'workspace_id' | 'workspace_name' | 'app' | 'session_id' | 'external_user'
>;

type Ids = Pick<GenerationRecord, 'key_hash' | 'workspace_id' | 'session_id' | 'external_user'>;

/** What is known of the caller, by its row (with names) or else by its record. Other keys than management keys see one key. */
export function callerFilters(
  row: Row | null,
  record: Ids | undefined,
  isManagement: boolean,
): readonly CallerFilter[] {
  const of = (label: string, name: string, value: string | null | undefined, text = value): CallerFilter[] =>
    value === null || value === undefined || value === ''
      ? []
      : [{ label, text: text ?? value, filter: { [name]: value }, hint: value }];
  const ofAccount = (filters: CallerFilter[]) =>
    isManagement ? filters : filters.map((each) => ({ ...each, filter: null }));
  const {
    key_hash: key,
    workspace_id: workspace,
    session_id: session,
    external_user: user,
  } = row ?? record ?? NO_IDS;
  return [
    ...ofAccount(of('Key', 'key', key, row?.key_name ?? key?.slice(0, HASH_DIGITS))),
    ...ofAccount(of('Workspace', 'workspace', workspace, row?.workspace_name ?? workspace)),
    ...of('App', 'app', row?.app),
    ...of('Session', 'session_id', session),
    ...of('End user', 'external_user', user),
  ];
}

const NO_IDS = { key_hash: null, workspace_id: null, session_id: null, external_user: null };
