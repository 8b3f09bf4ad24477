import { FREE } from '../../catalog/prices/bill.ts';
import type { ReplyContext, StreamEncoder } from '../../dialects/dialect.ts';
import type { OpenedStream } from '../../gateway/generation.ts';
import type { Heartbeat } from '../../http1/server/outgoing.ts';
import { type GatewayError, toGatewayError } from '../../ir/errors.ts';
import type { Event, EventBatch } from '../../ir/events.ts';
import type { AnswerFlow, TextLane } from '../../ir/text-lane.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { FrameForm } from '../../kit/frames/frame-form.ts';
import { writeSseComment } from '../../kit/frames/sse.ts';
import type { HttpTimes } from '../dependencies.ts';
import { Abandonment } from './abandonment.ts';
import { CallerGone } from './caller-gone.ts';
import type { Reply } from './reply.ts';

/** What one streamed answer is made of. */
export interface StreamSource {
  /** Resolves at the first content or the end. */
  readonly opening: Promise<OpenedStream>;
  readonly createEncoder: (context: ReplyContext) => StreamEncoder;
  /** For a failure that comes after the head was written and before any endpoint answered. */
  readonly contextWithoutEndpoint: () => ReplyContext;
  /** Text of the comments that open a stream early and keep it alive before it has an encoder. */
  readonly comment: string;
  /** Told of a failure that happened after the head was written. */
  readonly report: (thrown: unknown) => void;
  readonly signal: AbortSignal;
  readonly times: HttpTimes;
}

/**
 * Streams an answer. The head is held back until the first content, the end or the time limit, so that an early
 * failure is still a plain HTTP error: then this rejects and nothing was written. A later one is told in the stream.
 */
export async function replyWithStream(reply: Reply, source: StreamSource): Promise<void> {
  const waits = new Abandonment(source.signal, source.times.abortGraceMs);
  const pulse = new Pulse(reply, source);
  try {
    const opened = await waits.wait(source.opening);
    pulse.begin();
    const encoder = source.createEncoder(opened.context);
    pulse.encoder = encoder;
    await pump(reply, opened.batches, encoder, pulse, waits, source.signal);
  } catch (thrown) {
    abandon(source.opening);
    if (!reply.begun) throw thrown;
    if (!(source.signal.reason instanceof CallerGone)) {
      source.report(thrown);
      const encoder = pulse.encoder ?? source.createEncoder(source.contextWithoutEndpoint());
      reply.end(encoder.encode([lateFailure(toGatewayError(thrown))]));
    }
  } finally {
    pulse.stop();
    pulse.encoder?.close?.();
    waits.close();
  }
  await reply.flushed(source.signal, source.times.abortGraceMs);
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
  pulse: Pulse,
  waits: Abandonment,
  signal: AbortSignal,
): Promise<void> {
  const source: AnswerFlow = batches[Symbol.asyncIterator]();
  const passage = new Passage(source, encoder, reply, pulse);
  try {
    for (;;) {
      let next: IteratorResult<EventBatch, unknown> | undefined = await waits.wait(source.next());
      if (next.done === true) break;
      const isAhead = passage.put(next.value);
      // Events are many times as large as their bytes: whoever waits for its reader or its turn need not keep them.
      next = undefined;
      if (isAhead) await waits.until<void>(passage.passOn);
      await reply.drained(signal);
      if (reply.gone) return;
    }
    reply.end();
  } finally {
    passage.isOver = true;
    source.return?.().catch(() => {});
  }
}

/** What comes without waiting, from where it comes to where it is written. */
class Passage {
  isOver = false;
  readonly #source: AnswerFlow;
  readonly #encoder: StreamEncoder;
  readonly #reply: Reply;
  readonly #pulse: Pulse;
  /** Text that comes as the last did, and how it is written; characters of it that the encoder does not know of. */
  #texts: TextLane | undefined;
  #form: FrameForm | undefined;
  #passed = 0;
  #done: () => void = nobody;
  #fail: (reason: unknown) => void = nobody;

  constructor(source: AnswerFlow, encoder: StreamEncoder, reply: Reply, pulse: Pulse) {
    this.#source = source;
    this.#encoder = encoder;
    this.#reply = reply;
    this.#pulse = pulse;
  }

  /** Writes a batch. False: the reader is behind. */
  put(batch: EventBatch): boolean {
    const encoder = this.#encoder;
    if (this.#passed > 0) encoder.passed?.(this.#passed);
    this.#passed = 0;
    const text = encoder.encode(batch);
    this.#texts = encoder.formOf === undefined ? undefined : this.#source.texts?.();
    this.#form = this.#texts && encoder.formOf?.(this.#texts.pieces);
    if (text === '') return true;
    this.#pulse.felt();
    return this.#reply.send(text);
  }

  /** Passes on what comes; is done when there is something to wait for: the reader, or the next batch. */
  readonly passOn = (done: () => void, fail: (reason: unknown) => void): void => {
    this.#done = done;
    this.#fail = fail;
    this.#pass();
  };

  readonly #pass = (): void => {
    if (this.isOver) return;
    try {
      if (!this.#passAll() || this.#source.whenReady?.(this.#pass) !== true) this.#done();
    } catch (thrown) {
      this.#fail(thrown);
    }
  };

  /** Passes on what is at hand. False: the reader is behind. */
  #passAll(): boolean {
    const source = this.#source;
    for (;;) {
      if (!this.#passTexts()) return false;
      const batch = source.poll?.();
      if (batch === undefined) return true;
      if (!this.put(batch)) return false;
    }
  }

  #passTexts(): boolean {
    const form = this.#form;
    if (form === undefined) return true;
    let written = '';
    let bytes = 0;
    for (let text = this.#texts?.poll(); text !== undefined; text = this.#texts?.poll()) {
      this.#passed += text.length;
      written += form.writePlain(text);
      bytes += form.bytesWith(text);
    }
    if (written === '') return true;
    this.#pulse.felt();
    return this.#reply.send(written, bytes);
  }
}

function nobody(): void {}

/** Signs of life: opens the stream when content is late, and fills long silences. */
class Pulse implements Heartbeat {
  /** Set once the stream speaks its format. */
  encoder: StreamEncoder | undefined;
  readonly #reply: Reply;
  readonly #source: StreamSource;
  #timer: NodeJS.Timeout;
  /** When something was written last. A timer that is begun anew with every event costs more than this. */
  #feltMs = 0;

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
    this.felt();
    this.#waitFor(this.#source.times.silenceMs);
  }

  /** Something was written: silence starts anew. */
  felt(): void {
    this.#feltMs = performance.now();
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
    const left = silenceMs - (performance.now() - this.#feltMs);
    if (left >= 1) {
      this.#waitFor(left);
      return;
    }
    this.beat();
    this.#waitFor(silenceMs);
  }

  beat(): void {
    this.felt();
    this.#reply.writeNow(this.encoder?.keepAlive() ?? writeSseComment(this.#source.comment));
  }
}

/** Lets go of an answer that nobody waits for any more. */
function abandon(opening: Promise<OpenedStream>): void {
  opening.then(({ batches }) => batches[Symbol.asyncIterator]().return?.()).catch(() => {});
}
