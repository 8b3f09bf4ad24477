import { createHash, randomBytes } from 'node:crypto';
import type { JsonObject } from '../kit/json/json.ts';
import { objectAt, stringAt, textAt } from '../kit/json/members.ts';
import { readTraceParent, writeTraceParent } from '../kit/net/trace-context.ts';

/** What a request says of the trace that it belongs to, as its row keeps it. */
export interface TraceMembers {
  readonly trace?: JsonObject | null;
  /** W3C `traceparent`, if it came and is valid. */
  readonly traceparent?: string | undefined;
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

export function traceMembersOf(row: JsonObject): TraceMembers {
  return { trace: objectAt(row, 'trace') ?? null, traceparent: stringAt(row, 'traceparent') };
}

/** The trace that the spans of a generation are in: the one that its caller names, else its own. */
export function traceIdOfGeneration(generationId: string, row: JsonObject): string {
  return namedTrace(traceMembersOf(row)).traceId ?? new GenerationIds(generationId).ownTraceId;
}

/** Kinds of spans inside the span of a generation; of each kind there are at most 4,096. */
const CHILD_KINDS = { attempt: 1, tool: 2, guardrail: 3 } as const;

export type ChildKind = keyof typeof CHILD_KINDS;

/** The ids of the spans of a generation: the same whenever they are made. */
export class GenerationIds {
  readonly #generationId: string;
  /** SHA-256 of the id, hexadecimal. */
  readonly #hash: string;

  constructor(generationId: string) {
    this.#generationId = generationId;
    this.#hash = createHash('sha256').update(generationId).digest('hex');
  }

  /**
   * The trace of a generation whose caller names none. It begins with the second of the arrival, as AWS X-Ray wants it,
   * so that the generation is found by it without being stored with it: see `ownTraceOf`.
   */
  get ownTraceId(): string {
    const second = ARRIVAL.exec(this.#generationId)?.[1];
    const first =
      second === undefined ? this.#hash : Number(second).toString(16).padStart(SECOND_DIGITS, '0');
    return first.slice(0, SECOND_DIGITS) + this.#hash.slice(SECOND_DIGITS, TRACE_ID_DIGITS);
  }

  /** The span of the whole generation. */
  get root(): string {
    return this.#hash.slice(TRACE_ID_DIGITS, TRACE_ID_DIGITS + SPAN_ID_DIGITS);
  }

  child(kind: ChildKind, index: number): string {
    const number = CHILD_KINDS[kind] * 0x1000 + (index & 0xfff);
    return this.#hash.slice(-SPAN_ID_DIGITS, -4) + number.toString(16);
  }
}

/** How to find the generation, if there is one, whose own trace has an id. */
export interface OwnTrace {
  /** It arrived in the second that begins then, epoch milliseconds. */
  readonly arrivedFromMs: number;
  /** The hexadecimal SHA-256 of its id has these digits behind the first `skipped` ones. */
  readonly digits: string;
  readonly skipped: number;
}

/** `traceId`: 32 hexadecimal digits. */
export function ownTraceOf(traceId: string): OwnTrace {
  return {
    arrivedFromMs: Number.parseInt(traceId.slice(0, SECOND_DIGITS), 16) * 1_000,
    digits: traceId.slice(SECOND_DIGITS),
    skipped: SECOND_DIGITS,
  };
}

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string };

/** A span of a generation that an upstream or a service is told of, so that its own spans are inside. */
export interface ToldSpan {
  readonly spanId: string;
  readonly headers: TraceHeaders;
}

/** What the upstreams and services of a generation are told of its trace. */
export class ToldTrace {
  readonly #traceId: string;
  readonly #flags: number;
  readonly #state: string | undefined;

  constructor(generationId: string, members: TraceMembers & { readonly tracestate?: string | undefined }) {
    const header = members.traceparent === undefined ? undefined : readTraceParent(members.traceparent);
    this.#traceId = namedTrace(members).traceId ?? new GenerationIds(generationId).ownTraceId;
    const isOfHeader = header?.traceId === this.#traceId;
    this.#flags = isOfHeader ? header.flags : SAMPLED;
    this.#state = isOfHeader ? members.tracestate : undefined;
  }

  next(): ToldSpan {
    const spanId = randomBytes(SPAN_ID_DIGITS / 2).toString('hex');
    const traceparent = writeTraceParent({ traceId: this.#traceId, parentId: spanId, flags: this.#flags });
    const tracestate = this.#state;
    return { spanId, headers: tracestate === undefined ? { traceparent } : { traceparent, tracestate } };
  }
}

const SAMPLED = 1;
const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
const SECOND_DIGITS = 8;

/** Ids of generations begin with the second of their arrival. */
const ARRIVAL = /^gen-(\d{9,10})-/;

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
