import { type ChildKind, GenerationIds, namedTrace, traceMembersOf } from '../../ir/trace.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { readTraceParent } from '../../kit/net/trace-context.ts';
import type { StoredGeneration } from '../../ports/generations/generations.ts';
import type { Span } from '../otlp/messages.ts';

/** The flags say whether the parent is remote, and that this is known. */
const KNOWN_AS_REMOTE = 0x300;
const KNOWN_AS_LOCAL = 0x100;

export type Placed = Pick<Span, 'traceId' | 'spanId' | 'traceState' | 'parentSpanId' | 'flags'>;

/** Where the spans of a generation are. Absent members are undefined. */
export class SpanPlace {
  readonly #ids: GenerationIds;
  readonly #traceId: string;
  readonly #traceState: string | undefined;
  readonly #sampled: number;
  readonly root: Placed;

  constructor({ id, row }: Pick<StoredGeneration, 'id' | 'row'>) {
    const members = traceMembersOf(row);
    const { traceparent } = members;
    const { traceId, parentSpanId } = namedTrace(members);
    this.#ids = new GenerationIds(id);
    this.#traceId = traceId ?? this.#ids.ownTraceId;
    const header = traceparent === undefined ? undefined : readTraceParent(traceparent);
    const isOfHeader = header?.traceId === this.#traceId;
    // What vendors keep in the state is about the trace of the header alone.
    this.#traceState = isOfHeader ? textAt(row, 'tracestate') : undefined;
    this.#sampled = isOfHeader ? header.flags & 0xff : 1;
    this.root = this.#placed(this.#ids.root, parentSpanId, KNOWN_AS_REMOTE);
  }

  /** A span inside the root, or inside another one. `told`: the id that was sent on with a request. */
  child(kind: ChildKind, index: number, told?: string, parentSpanId = this.root.spanId): Placed {
    return this.#placed(told ?? this.#ids.child(kind, index), parentSpanId, KNOWN_AS_LOCAL);
  }

  /** The id of the span of a call of a server tool. */
  toolCall(call: JsonObject, index: number): string {
    return textAt(call, 'span_id') ?? this.#ids.child('tool', index);
  }

  #placed(spanId: string, parentSpanId: string | undefined, remoteness: number): Placed {
    return {
      traceId: this.#traceId,
      spanId,
      traceState: this.#traceState,
      parentSpanId,
      flags: parentSpanId === undefined ? undefined : this.#sampled | remoteness,
    };
  }
}
