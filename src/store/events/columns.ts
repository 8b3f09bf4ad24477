import type { GenerationEvent } from '../../ports/events.ts';
import { GenerationRefused } from '../../ports/generations.ts';

/** What DuckDB is given for one cell. */
export type Cell = string | bigint | boolean | null;

interface Column {
  readonly type: 'VARCHAR' | 'BIGINT' | 'BOOLEAN';
  readonly of: (event: GenerationEvent) => string | number | bigint | boolean | null;
}

const text = (of: Column['of']): Column => ({ type: 'VARCHAR', of });
const whole = (of: Column['of']): Column => ({ type: 'BIGINT', of });
const flag = (of: Column['of']): Column => ({ type: 'BOOLEAN', of });

/** The columns of an event, in their order. */
export const COLUMNS = {
  id: text((event) => event.id),
  created_ms: whole((event) => event.createdAtMs),
  account_id: text((event) => event.accountId),
  workspace_id: text((event) => event.workspaceId),
  key_hash: text((event) => event.keyHash),
  user_id: text((event) => event.userId),
  app: text((event) => event.app),
  model_id: text((event) => event.modelId),
  model: text((event) => event.model),
  variant: text((event) => event.variant),
  provider: text((event) => event.provider),
  endpoint: text((event) => event.endpoint),
  origin: text((event) => event.origin),
  country: text((event) => event.country),
  finish_reason: text((event) => event.finishReason),
  external_user: text((event) => event.externalUser),
  context_length_bucket: text((event) => event.contextLengthBucket),
  is_zdr: flag((event) => event.isZdr),
  is_byok: flag((event) => event.isByok),
  is_guarded: flag((event) => event.isGuarded),
  is_from_cache: flag((event) => event.isFromCache),
  prompt_tokens: whole((event) => event.promptTokens),
  completion_tokens: whole((event) => event.completionTokens),
  reasoning_tokens: whole((event) => event.reasoningTokens),
  cached_tokens: whole((event) => event.cachedTokens),
  latency_ms: whole((event) => event.latencyMs),
  generation_ms: whole((event) => event.generationMs),
  credit_nanos: whole((event) => event.creditNanos),
  byok_nanos: whole((event) => event.byokNanos),
  upstream_nanos: whole((event) => event.upstreamNanos),
  cache_nanos: whole((event) => event.cacheNanos),
  web_nanos: whole((event) => event.webNanos),
} as const satisfies Readonly<Record<string, Column>>;

export type ColumnName = keyof typeof COLUMNS;

const ALL: readonly (readonly [string, Column])[] = Object.entries(COLUMNS);

/** Events as columns of cells. Throws GenerationRefused for one that does not fit. */
export function columnsOf(events: readonly GenerationEvent[]): Cell[][] {
  return ALL.map(([name, column]) => events.map((event) => cellOf(event, name, column)));
}

/** A day's sum of numbers up to this one fits 64 bits. */
const MOST = BigInt(Number.MAX_SAFE_INTEGER);

function cellOf(event: GenerationEvent, name: string, { type, of }: Column): Cell {
  const value = of(event);
  if (value === null || type !== 'BIGINT') return value as Cell;
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw refused(event, name);
  const cell = BigInt(value);
  if (cell > MOST || cell < -MOST) throw refused(event, name);
  return cell;
}

function refused({ id }: GenerationEvent, name: string): GenerationRefused {
  return new GenerationRefused(`the event ${id} has a number in ${name} that is not a whole one within 2^53`);
}
