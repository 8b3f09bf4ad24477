import {
  type ConversationSort,
  type ConversationsQuery,
  MAX_CONVERSATION_MODELS,
} from '../../../ports/events/events.ts';
import { DURATION } from '../columns.ts';
import type { ConversationFigures, ConversationKey, LastArrival, ModelUse } from '../conversation-parts.ts';
import { type Bind, binder, type Statement } from './driver/statement.ts';
import { conditionsOf, FAILED } from './log-sql.ts';
import type { LogTerms } from './log-terms.ts';

const END = `created_ms + coalesce(${DURATION}, 0)`;

/** What conversations are in order of. */
const SORT_VALUES: Readonly<Record<ConversationSort, string>> = {
  last: 'max(created_ms)',
  duration: `max(${END}) - min(created_ms)`,
  generations: 'count(*) FILTER (refused_requests IS NULL)',
  tokens: 'sum(prompt_tokens + completion_tokens)',
  cost: 'sum(credit_nanos)',
  failed: `count(*) FILTER (${FAILED})`,
};

/** Columns of the figures of a conversation, by member. */
const FIGURES = {
  sessionId: 'session_id',
  workspaceId: 'workspace_id',
  firstMs: 'min(created_ms)',
  lastMs: 'max(created_ms)',
  endMs: `max(${END})`,
  generations: SORT_VALUES.generations,
  failed: SORT_VALUES.failed,
  refused: 'count(refused_requests)',
  promptTokens: 'sum(prompt_tokens)',
  completionTokens: 'sum(completion_tokens)',
  reasoningTokens: 'sum(reasoning_tokens)',
  cachedTokens: 'sum(cached_tokens)',
  creditNanos: 'sum(credit_nanos)',
  byokNanos: 'sum(byok_nanos)',
  // The last of those that are not null.
  keyHash: 'arg_max(key_hash, created_ms)',
  app: 'arg_max(app, created_ms)',
  externalUser: 'arg_max(external_user, created_ms)',
} as const satisfies Record<keyof ConversationFigures, string>;

const MEMBERS = Object.entries(FIGURES);

const TEXTS: ReadonlySet<string> = new Set(['sessionId', 'workspaceId', 'keyHash', 'app', 'externalUser']);
const AMOUNTS: ReadonlySet<string> = new Set(['creditNanos', 'byokNanos']);

/** Events of conversations that match. `terms` are those of the whole range. */
function matching(query: ConversationsQuery, terms: LogTerms, bind: Bind): string {
  const conditions = conditionsOf(query, terms, bind);
  conditions.push('session_id IS NOT NULL');
  if (query.sessionSearch !== null) conditions.push(`contains(session_id, ${bind(query.sessionSearch)})`);
  return `events WHERE ${conditions.join(' AND ')}`;
}

const withWorkspace = (events: string) => `(SELECT * FROM ${events}) JOIN series ON place = series`;

/** The statement of `ConversationReader.page`. Columns: workspace and session. */
export function conversationKeysSql(
  query: ConversationsQuery,
  last: LastArrival | null,
  terms: LogTerms,
): Statement {
  const { bind, parameters } = binder();
  const isDescending = query.order === 'desc';
  const direction = isDescending ? 'DESC' : 'ASC';
  const events = (range: Partial<LastArrival>) =>
    withWorkspace(matching({ ...query, ...range }, terms, bind));
  // What has a generation after the part is a conversation of a later one.
  const later =
    last === null || last.toMs >= query.toMs
      ? ''
      : `ANTI JOIN (SELECT workspace_id, session_id FROM ${events({ fromMs: last.toMs })})
        USING (workspace_id, session_id)`;
  return {
    sql: `SELECT workspace_id, session_id FROM (SELECT workspace_id, session_id, ${SORT_VALUES[query.sort]} AS value
        FROM ${events(last ?? {})} GROUP BY workspace_id, session_id) ${later} ${behindSql(query, bind)}
      ORDER BY value ${direction}, workspace_id ${direction}, session_id ${direction}
      LIMIT ${bind(BigInt(query.limit))}`,
    parameters,
  };
}

function behindSql({ after, order }: ConversationsQuery, bind: Bind): string {
  if (after === null) return '';
  const sign = order === 'desc' ? '<' : '>';
  const [value, workspace, session] = [bind(after.value), bind(after.workspaceId), bind(after.sessionId)];
  return `WHERE (value ${sign} ${value} OR (value = ${value} AND (workspace_id ${sign} ${workspace}
    OR (workspace_id = ${workspace} AND session_id ${sign} ${session}))))`;
}

/** Reads a row of `conversationKeysSql`. */
export function conversationKey([workspaceId, sessionId]: readonly unknown[]): ConversationKey {
  return { workspaceId: String(workspaceId), sessionId: String(sessionId) };
}

/** The statement of `ConversationReader.figures`. Columns: those of `FIGURES`, in their order. */
export function conversationFiguresSql(
  query: ConversationsQuery,
  sessionIds: readonly string[],
  terms: LogTerms,
): Statement {
  const { bind, parameters } = binder();
  return {
    sql: `SELECT ${MEMBERS.map(([, sql]) => sql).join(', ')} FROM ${ofSessions(query, sessionIds, terms, bind)}
      GROUP BY workspace_id, session_id`,
    parameters,
  };
}

/** Their row numbers are found first: of all events only the column of the sessions is read. */
function ofSessions(
  query: ConversationsQuery,
  sessionIds: readonly string[],
  terms: LogTerms,
  bind: Bind,
): string {
  const found = matching({ ...query, sessionIds }, terms, bind);
  return withWorkspace(`events SEMI JOIN (SELECT rowid AS found FROM ${found}) AS first
    ON events.rowid = first.found`);
}

/** Reads a row of `conversationFiguresSql`. */
export function conversationFigures(row: readonly unknown[]): ConversationFigures {
  const members = MEMBERS.map(([name], place) => [name, memberOf(name, row[place])]);
  return Object.fromEntries(members) as ConversationFigures;
}

function memberOf(name: string, value: unknown): unknown {
  if (TEXTS.has(name)) return value ?? null;
  return AMOUNTS.has(name) ? BigInt(value as number | bigint) : Number(value);
}

/** The statement of `ConversationReader.models`. Columns: workspace, session, model and its generations. */
export function conversationModelsSql(
  query: ConversationsQuery,
  sessionIds: readonly string[],
  terms: LogTerms,
): Statement {
  const { bind, parameters } = binder();
  return {
    sql: `SELECT workspace_id, session_id, model_id, count(*) AS generations
      FROM ${ofSessions(query, sessionIds, terms, bind)} WHERE refused_requests IS NULL
      GROUP BY workspace_id, session_id, model_id
      QUALIFY row_number() OVER (PARTITION BY workspace_id, session_id ORDER BY generations DESC, model_id)
        <= ${MAX_CONVERSATION_MODELS}`,
    parameters,
  };
}

/** Reads a row of `conversationModelsSql`. */
export function modelUse([workspaceId, sessionId, model, generations]: readonly unknown[]): ModelUse {
  return {
    ...conversationKey([workspaceId, sessionId]),
    model: String(model),
    generations: Number(generations),
  };
}
