import type { GenerationEvent, LogFacts, LogState } from '../../../../ports/events/events.ts';
import { type ColumnName, EVENT_NUMBERS, EVENT_TEXTS, SERIES_NUMBERS, SERIES_TEXTS } from '../../columns.ts';
import { plain } from '../driver/statement.ts';
import { assertComplete, openBundleReader, unreadableBundle } from './event-bundle.ts';

/** The events of a bundle, for stores that cannot attach it. */
export interface BundleEvents {
  /** Events that were left out of the bundle because an earlier one has their id. */
  readonly repeated: number;
  /** In their order, some thousand at a time. */
  readonly pages: AsyncIterable<readonly GenerationEvent[]>;
}

const PAGE_EVENTS = 5_000;

const COLUMNS = Object.keys({
  ...SERIES_TEXTS,
  ...SERIES_NUMBERS,
  ...EVENT_TEXTS,
  ...EVENT_NUMBERS,
}) as readonly ColumnName[];

/** Reads a bundle. Rejects with EventBundleUnreadable. The file stays open until its pages were read. */
export async function readBundleEvents(file: string): Promise<BundleEvents> {
  const thread = openBundleReader(file);
  try {
    const repeated = assertComplete(
      file,
      await thread.query(plain('SELECT repeated, version FROM facts, shape')),
    );
    const [[last] = []] = await thread.query(plain('SELECT coalesce(max(rowid), -1) FROM events'));
    return { repeated, pages: pagesOf(file, thread, Number(last)) };
  } catch (error) {
    await thread.close();
    throw unreadableBundle(file, error);
  }
}

async function* pagesOf(
  file: string,
  thread: ReturnType<typeof openBundleReader>,
  lastRow: number,
): AsyncGenerator<readonly GenerationEvent[]> {
  try {
    for (let row = 0; row <= lastRow; row += PAGE_EVENTS) {
      const rows = await thread.query(
        plain(`SELECT ${COLUMNS.join(', ')} FROM events JOIN series ON series.place = events.series
          WHERE events.rowid >= ${row} AND events.rowid < ${row + PAGE_EVENTS} ORDER BY events.rowid`),
      );
      if (rows.length > 0) yield rows.map((values) => eventOf(recordOf(values)));
    }
  } catch (error) {
    throw unreadableBundle(file, error);
  } finally {
    await thread.close();
  }
}

type Values = Readonly<Record<ColumnName, unknown>>;

function recordOf(values: readonly unknown[]): Values {
  return Object.fromEntries(COLUMNS.map((name, place) => [name, values[place]])) as Values;
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
const text = (value: unknown) => String(value);
const isTrue = (value: unknown) => Number(value) === 1;
const numberOrNull = (value: unknown) =>
  value === null || value === undefined || Number.isNaN(value) ? null : Number(value);
const number = (value: unknown) => numberOrNull(value) ?? 0;
const amountOrNull = (value: unknown) => {
  const known = numberOrNull(value);
  return known === null ? null : BigInt(known);
};
const amount = (value: unknown) => amountOrNull(value) ?? 0n;

/** The event behind its columns: the way back of `columns.ts`. */
function eventOf(values: Values): GenerationEvent {
  const log = logFactsOf(values);
  return {
    id: text(values.id),
    createdAtMs: number(values.created_ms),
    accountId: text(values.account_id),
    workspaceId: text(values.workspace_id),
    keyHash: textOrNull(values.key_hash),
    userId: textOrNull(values.user_id),
    app: textOrNull(values.app),
    modelId: text(values.model_id),
    model: text(values.model),
    variant: text(values.variant),
    provider: textOrNull(values.provider),
    endpoint: textOrNull(values.endpoint),
    origin: textOrNull(values.origin),
    country: textOrNull(values.country),
    finishReason: textOrNull(values.finish_reason),
    externalUser: textOrNull(values.external_user),
    contextLengthBucket: text(values.context_length_bucket),
    modalities: text(values.modalities),
    isZdr: isTrue(values.is_zdr),
    isByok: isTrue(values.is_byok),
    isGuarded: isTrue(values.is_guarded),
    isFromCache: isTrue(values.is_from_cache),
    promptTokens: number(values.prompt_tokens),
    completionTokens: number(values.completion_tokens),
    reasoningTokens: number(values.reasoning_tokens),
    cachedTokens: number(values.cached_tokens),
    latencyMs: numberOrNull(values.latency_ms),
    generationMs: numberOrNull(values.generation_ms),
    creditNanos: amount(values.credit_nanos),
    byokNanos: amount(values.byok_nanos),
    upstreamNanos: amount(values.upstream_nanos),
    cacheNanos: amountOrNull(values.cache_nanos),
    webNanos: amountOrNull(values.web_nanos),
    ...(log !== undefined && { log }),
    isImported: isTrue(values.is_imported),
  };
}

function logFactsOf(values: Values): LogFacts | undefined {
  const state = textOrNull(values.state);
  if (state === null) return undefined;
  return {
    state: state as LogState,
    format: textOrNull(values.request_format),
    sessionId: textOrNull(values.session_id),
    requestId: textOrNull(values.request_id),
    durationMs: number(values.duration_ms),
    errorStatus: numberOrNull(values.error_status),
    errorType: textOrNull(values.error_type),
    attempts: number(values.attempts),
    toolCalls: number(values.tool_calls),
    isStreamed: isTrue(values.is_streamed),
    traceId: textOrNull(values.trace_id),
  };
}
