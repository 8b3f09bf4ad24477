import { namedTrace, ROOT_SPAN, spanIdOfGeneration, traceIdOfGeneration } from '../../ir/trace.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt, textAt } from '../../kit/json/members.ts';
import { readTraceParent } from '../../kit/net/trace-context.ts';
import type { StoredGeneration } from '../../ports/generations.ts';
import type { Span } from '../otlp/messages.ts';

/** The flags say whether the parent is remote, and that this is known. */
const KNOWN_AS_REMOTE = 0x300;
const KNOWN_AS_LOCAL = 0x100;

/** The ids of the spans of a generation. */
export class SpanPlace {
  readonly #generationId: string;
  readonly #root: Pick<Span, 'traceId' | 'spanId' | 'traceState' | 'parentSpanId' | 'flags'>;
  readonly #child: Pick<Span, 'traceId' | 'traceState' | 'parentSpanId' | 'flags'>;

  constructor({ id, row }: Pick<StoredGeneration, 'id' | 'row'>) {
    const members = membersOf(row);
    const traceId = traceIdOfGeneration(id, members);
    const { parentSpanId } = namedTrace(members);
    const header = members.traceparent === undefined ? undefined : readTraceParent(members.traceparent);
    // What the vendors of a trace keep there is about that trace alone.
    const traceState = header?.traceId === traceId ? textAt(row, 'tracestate') : undefined;
    const sampled = header?.traceId === traceId ? header.flags & 0xff : 1;
    const shared = { traceId, ...(traceState !== undefined && { traceState }) };
    const spanId = spanIdOfGeneration(id, ROOT_SPAN);
    this.#generationId = id;
    this.#root = {
      ...shared,
      spanId,
      ...(parentSpanId !== undefined && { parentSpanId, flags: sampled | KNOWN_AS_REMOTE }),
    };
    this.#child = { ...shared, parentSpanId: spanId, flags: sampled | KNOWN_AS_LOCAL };
  }

  get root(): Pick<Span, 'traceId' | 'spanId' | 'traceState' | 'parentSpanId' | 'flags'> {
    return this.#root;
  }

  /** A child of the root. `name` is unique among them. */
  child(
    name: string,
    told?: string,
  ): Pick<Span, 'traceId' | 'spanId' | 'traceState' | 'parentSpanId' | 'flags'> {
    return { ...this.#child, spanId: told ?? spanIdOfGeneration(this.#generationId, name) };
  }
}

function membersOf(row: JsonObject) {
  const traceparent = stringAt(row, 'traceparent');
  return { trace: objectAt(row, 'trace') ?? null, ...(traceparent !== undefined && { traceparent }) };
}
