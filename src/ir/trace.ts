import { createHash } from 'node:crypto';
import type { JsonObject } from '../kit/json/json.ts';
import { textAt } from '../kit/json/members.ts';
import { readTraceParent } from '../kit/net/trace-context.ts';

/** What a request says of the trace that it belongs to, as its row keeps it. */
export interface TraceMembers {
  readonly trace?: JsonObject | null;
  /** W3C `traceparent`, if it came and is valid. */
  readonly traceparent?: string;
}

/** The place of a generation in a trace that its caller names. */
export interface NamedTrace {
  readonly traceId: string | undefined;
  /** The span that contains the generation. */
  readonly parentSpanId: string | undefined;
}

/** The trace of a request: what `trace` in the body says wins over `traceparent`. */
export function namedTrace({ trace, traceparent }: TraceMembers): NamedTrace {
  const said = trace ?? undefined;
  const header = traceparent === undefined ? undefined : readTraceParent(traceparent);
  const named = textAt(said, 'trace_id');
  const traceId = named === undefined ? header?.traceId : traceIdOf(named);
  const parent = textAt(said, 'parent_span_id');
  if (parent !== undefined) return { traceId, parentSpanId: spanIdOf(parent) };
  return { traceId, parentSpanId: traceId === header?.traceId ? header?.parentId : undefined };
}

/** The trace of a generation: what its caller named, else one of its own. */
export function traceIdOfGeneration(id: string, members: TraceMembers): string {
  return namedTrace(members).traceId ?? hashed(`trace ${id}`, TRACE_ID_DIGITS);
}

/** The id of a span of a generation: the same whenever it is sent. `name` is unique among its spans. */
export function spanIdOfGeneration(id: string, name: string): string {
  return hashed(`span ${id} ${name}`, SPAN_ID_DIGITS);
}

/** Name of the span of the whole generation. */
export const ROOT_SPAN = 'generation';

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

/** A trace id of 32 hexadecimal digits, or a UUID, as it is; any other text by its hash. */
export function traceIdOf(text: string): string {
  return hexOf(text.replaceAll('-', ''), TRACE_ID_DIGITS) ?? hashed(text, TRACE_ID_DIGITS);
}

/** A span id of 16 hexadecimal digits as it is; any other text by its hash. */
export function spanIdOf(text: string): string {
  return hexOf(text, SPAN_ID_DIGITS) ?? hashed(text, SPAN_ID_DIGITS);
}

/** Undefined for all zeroes too, which no id may be. */
function hexOf(text: string, digits: number): string | undefined {
  if (text.length !== digits || !/^[0-9a-f]+$/i.test(text) || /^0+$/.test(text)) return undefined;
  return text.toLowerCase();
}

function hashed(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
