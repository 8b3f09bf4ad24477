import { FREE } from '../../catalog/prices/bill.ts';
import type { ReplyContext, StreamEncoder } from '../../dialects/dialect.ts';
import type { OpenedStream } from '../../gateway/generation/opened-generation.ts';
import { type ErrorKind, type GatewayError, toGatewayError } from '../../ir/errors.ts';
import type { Event, EventBatch } from '../../ir/events.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { type Flow, ReadyValues } from '../../kit/frames/flow.ts';
import { writeSseComment } from '../../kit/frames/sse.ts';
import type { Heartbeat } from '../../net/http1/server/outbound-response.ts';
import type { HttpTimes } from '../dependencies.ts';
import { AbortGrace } from './abort-grace.ts';
import { CallerGone } from './http-exchange.ts';
import type { Reply } from './reply.ts';

export interface StreamSource {
  /** Resolves at the first content or the end. */
  readonly opening: Promise<OpenedStream>;
  readonly createEncoder: (context: ReplyContext) => StreamEncoder;
  /** The context of a failure that comes after the head was written and before any endpoint answered. */
  readonly contextWithoutEndpoint: () => ReplyContext;
  /** Kinds of early failures that are answered in the stream. */
  readonly streamedFailures: ReadonlySet<ErrorKind> | undefined;
  /** Text of the comments that open a stream early and keep it alive before it has an encoder. */
  readonly comment: string;
  /** Called with a failure that happened after the head was written. */
  readonly report: (thrown: unknown) => void;
  readonly signal: AbortSignal;
  readonly times: HttpTimes;
}

/**
 * Streams an answer. The head is held back until the first content, the end or the time limit, so that an early
 * failure is still a plain HTTP error: then this rejects and nothing was written. A later one is an event in the
 * stream, and so are those of `streamedFailures`.
 */
export async function replyWithStream(reply: Reply, source: StreamSource): Promise<void> {
  const waits = new AbortGrace(source.signal, source.times.abortGraceMs);
  const heartbeat = new StreamHeartbeat(reply, source);
  try {
    const opened = await waits.wait(source.opening);
    heartbeat.begin();
    const encoder = source.createEncoder(opened.context);
    heartbeat.encoder = encoder;
    await pump(reply, opened.batches, encoder, heartbeat, waits, source.signal);
  } catch (thrown) {
    abandon(source.opening);
    const error = toGatewayError(thrown);
    if (!reply.begun) {
      if (source.streamedFailures?.has(error.kind) !== true) throw thrown;
      heartbeat.begin();
    }
    if (!(source.signal.reason instanceof CallerGone)) {
      source.report(thrown);
      const encoder = heartbeat.encoder ?? source.createEncoder(source.contextWithoutEndpoint());
      reply.end(encoder.encode([lateFailure(error)]));
    }
  } finally {
    heartbeat.stop();
    heartbeat.encoder?.close?.();
    waits.close();
  }
  const flushing = reply.flushed(source.signal, source.times.abortGraceMs);
  if (flushing !== undefined) await flushing;
}

/** A failure that nothing was settled for: no endpoint answered, or the answer was cut off from outside. */
function lateFailure(error: GatewayError): Event {
  return { type: 'failure', error, settled: { usage: NO_USAGE, bill: FREE, metadata: error.routing } };
}

/** One write per batch; the next batch is pulled only when the reader has taken the last. */
async function pump(
  reply: Reply,
  batches: AsyncIterable<EventBatch>,
  encoder: StreamEncoder,
  heartbeat: StreamHeartbeat,
  waits: AbortGrace,
  signal: AbortSignal,
): Promise<void> {
  const flow: Flow<EventBatch> = batches[Symbol.asyncIterator]();
  /** False: the reader is behind. */
  const write = (batch: EventBatch): boolean => {
    const text = encoder.encode(batch);
    if (text === '') return true;
    heartbeat.noteWrite();
    return reply.send(text);
  };
  const ready = new ReadyValues(flow, write);
  try {
    for (;;) {
      let next: IteratorResult<EventBatch, unknown> | undefined = await waits.wait(flow.next());
      if (next.done === true) break;
      const isAhead = write(next.value);
      // Events are many times as large as their bytes: do not keep them while waiting for the reader.
      next = undefined;
      if (isAhead) await waits.until<void>(ready.takeAll);
      await reply.drained(signal);
      if (reply.gone) return;
    }
    reply.end();
  } finally {
    ready.stop();
    flow.return?.().catch(() => {});
  }
}

/** Signs of life: opens the stream when content is late, and fills long silences. */
class StreamHeartbeat implements Heartbeat {
  /** Set once the stream speaks its format. */
  encoder: StreamEncoder | undefined;
  readonly #reply: Reply;
  readonly #source: StreamSource;
  #timer: NodeJS.Timeout;
  /** When something was written last. Restarting a timer with every event would cost more than this. */
  #lastWriteMs = 0;

  constructor(reply: Reply, source: StreamSource) {
    this.#reply = reply;
    this.#source = source;
    this.#timer = setTimeout(() => {
      this.begin();
      this.beat();
    }, source.times.holdHeadersMs);
  }

  /** Writes the head, if it is not yet. */
  begin(): void {
    if (!this.#reply.begun) this.#reply.beginStream();
    this.#reply.heartbeat = this;
    this.noteWrite();
    this.#waitFor(this.#source.times.silenceMs);
  }

  /** Something was written: the silence begins again. */
  noteWrite(): void {
    this.#lastWriteMs = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#reply.heartbeat = undefined;
  }

  #waitFor(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#listen(), milliseconds);
  }

  #listen(): void {
    const { silenceMs } = this.#source.times;
    const left = silenceMs - (performance.now() - this.#lastWriteMs);
    if (left >= 1) {
      this.#waitFor(left);
      return;
    }
    this.beat();
    this.#waitFor(silenceMs);
  }

  beat(): void {
    this.noteWrite();
    this.#reply.writeNow(this.encoder?.keepAlive() ?? writeSseComment(this.#source.comment));
  }
}

/** Ends an answer whose caller has left. */
function abandon(opening: Promise<OpenedStream>): void {
  opening.then(({ batches }) => batches[Symbol.asyncIterator]().return?.()).catch(() => {});
}
