import type { StreamDecoder } from '../../dialects/dialect.ts';
import { type Event, type EventBatch, isContent, terminalIndex } from '../../ir/events.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import { BrokenFrames, type Frame, type FrameReader, FrameTooLarge } from '../../kit/frames/frames.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { TurnQueue } from '../../kit/loop/turn-queue.ts';
import { TransportProblem } from '../../net/http1/client/transport-problem.ts';
import { type ReadLimits, readBeginning } from '../../net/transport/read-beginning.ts';
import type { AnswerMask } from './answer-mask.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { brokenOff, type FailureScope, rewriteTerminal } from './failure.ts';
import { isPortion, Portions } from './portions.ts';
import { SplitMask } from './split-mask.ts';

/** Most that is read after the terminal event to keep the connection; if there is more, it is closed. */
const TRAILING_LIMITS: ReadLimits = { maxBytes: 64 * 1024, maxMs: 1000 };

/** Bytes of one event of a stream. */
export const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/** After this many bytes an answer waits for its next turn. */
const TURN_BYTES = 8 * 1024;

/**
 * Bytes that are decoded at once. The events of a batch are many times as large as its bytes and stay in memory for
 * as long as a slow reader keeps the batch from being written.
 */
const PIECE_BYTES = 4 * 1024;

/**
 * Frames without content in a row. Some upstreams send an empty frame for every token of hidden reasoning; one that
 * sends more than this is not answering.
 */
const MAX_SILENT_FRAMES = 100_000;

/**
 * Items and parts of one answer: more than a model could write. The last event and the record contain all of them.
 */
const MAX_ITEMS_AND_PARTS = 20_000;

/** Chunks below this size come from an upstream that writes token by token. */
const TRICKLE_BYTES = 1024;

const LINE_FEED = 10;

const NOTHING = new Uint8Array(0);

/** Turns the bytes of an answer into events. Pure and synchronous; one per answer. */
export interface AnswerReader {
  read(chunk: Uint8Array): Event[];
  /** The bytes have ended. */
  end(): Event[];
  /** The answer broke off: events that were held back so far. */
  release(): Event[];
}

export interface StreamExtras {
  /** Collects long numbers from all bytes. */
  readonly numbers?: ExactNumbers | undefined;
  readonly mask?: AnswerMask;
}

/** Reads a stream with a dialect's frames and decoder, up to the terminal event and no further. */
export function streamReader(
  reader: FrameReader,
  decoder: StreamDecoder,
  { numbers, mask }: StreamExtras = {},
): AnswerReader {
  const split = new SplitMask(mask?.splittable ?? []);
  let silentFrames = 0;
  let pieces = 0;
  const decodeFrame = (frame: Frame): Event[] => {
    const decoded = split.mask(decoder.decode(mask === undefined ? frame : mask.frame(frame)));
    if (decoded.length === 0) silentFrames++;
    for (const event of decoded) {
      if (isContent(event)) silentFrames = 0;
      pieces += piecesIn(event);
    }
    if (silentFrames > MAX_SILENT_FRAMES) {
      throw new TransportProblem('too-large', 'the answer goes on without content');
    }
    if (pieces > MAX_ITEMS_AND_PARTS) {
      throw new TransportProblem(
        'too-large',
        `the answer has more than ${MAX_ITEMS_AND_PARTS} items and parts`,
      );
    }
    return decoded;
  };
  const decode = (frames: readonly Frame[]): Event[] => {
    const [only] = frames;
    if (only !== undefined && frames.length === 1) return decodeFrame(only);
    const events: Event[] = [];
    for (const frame of frames) {
      const decoded = decodeFrame(frame);
      for (const event of decoded) events.push(event);
      if (terminalIndex(decoded) !== -1) break;
    }
    return events;
  };
  return {
    read(chunk) {
      numbers?.look(chunk);
      return decode(reader.push(chunk));
    },
    end() {
      const events = decode(reader.end());
      if (terminalIndex(events) !== -1) return events;
      return [...events, ...split.mask(decoder.end()), ...split.release()];
    },
    release: () => split.release(),
  };
}

function piecesIn(event: Event): number {
  if (event.type === 'item-start' || event.type === 'part-start') return 1;
  if (event.type !== 'relay' || event.template !== undefined) return 0;
  let count = 0;
  for (const inner of event.events) count += piecesIn(inner);
  return count;
}

function problemOf(thrown: unknown): unknown {
  if (thrown instanceof FrameTooLarge) return new TransportProblem('too-large', thrown.message);
  if (thrown instanceof BrokenFrames) return new TransportProblem('encoding', thrown.message);
  return thrown;
}

function withRewrittenTerminal(events: readonly Event[], { status, scope }: AnswerSource): Event[] {
  return events.map((event) => rewriteTerminal(event, status, scope));
}

/**
 * Where the next piece of a chunk ends: behind a line if there is one, so that no part of a frame waits for its rest.
 */
function endOfPiece(chunk: Uint8Array): number {
  if (chunk.length <= PIECE_BYTES) return chunk.length;
  const lineEnd = chunk.lastIndexOf(LINE_FEED, PIECE_BYTES - 1);
  return lineEnd === -1 ? PIECE_BYTES : lineEnd + 1;
}

/** The bytes of an answer, and how a failure of it is described. */
export interface AnswerSource {
  readonly status: number;
  readonly chunks: Flow<Uint8Array>;
  readonly signal: AbortSignal;
  readonly scope: FailureScope;
  /** Shared by all answers. */
  readonly turns: TurnQueue;
  readonly memory: AnswerMemory;
}

/**
 * The events of an answer, one batch per network chunk or piece of a large one, ending with exactly one terminal event
 * whatever happens: a broken exchange ends with the upstream's failure, an aborted one with the reason of the abort.
 * Returning early closes the connection at once, even while a batch is awaited.
 */
export class Batches implements AsyncIterableIterator<EventBatch>, Flow<EventBatch> {
  readonly #source: AnswerSource;
  readonly #reader: AnswerReader;
  /** The rest of a batch that was too large for one turn. */
  #portions: Portions | undefined;
  #done = false;
  /** The rest of the last chunk. */
  #rest: Uint8Array = NOTHING;
  /** Bytes read since the last turn of other answers. */
  #unbroken = 0;
  /** Bytes read since the last event: they are mostly the beginning of a large frame. */
  #openFrameBytes = 0;

  constructor(source: AnswerSource, reader: AnswerReader) {
    this.#source = source;
    this.#reader = reader;
  }

  async next(): Promise<IteratorResult<EventBatch, undefined>> {
    if (this.#portions !== undefined) {
      await this.#source.turns.next();
      // `return` may have been called while others had their turn.
      if (this.#portions !== undefined) return { done: false, value: this.#nextPortion(this.#portions) };
    }
    while (!this.#done) {
      const batch = await this.#events();
      if (batch.length > 0) return { done: false, value: this.#firstOf(batch) };
    }
    return { done: true, value: undefined };
  }

  poll(): EventBatch | undefined {
    while (this.#maySkipTurn()) {
      const chunk = this.#source.chunks.poll?.();
      if (chunk === undefined) return undefined;
      if (chunk.length > PIECE_BYTES) {
        this.#rest = chunk;
        return undefined;
      }
      // Small chunks arrive in separate turns of the loop anyway.
      this.#unbroken = chunk.length < TRICKLE_BYTES ? 0 : this.#unbroken + chunk.length;
      const batch = this.#read(chunk);
      if (batch.length > 0) return this.#firstOf(batch);
    }
    return undefined;
  }

  whenReady(wake: () => void): boolean {
    return this.#maySkipTurn() && (this.#source.chunks.whenReady?.(wake) ?? false);
  }

  get hasEnded(): boolean {
    return this.#done && this.#portions === undefined;
  }

  async return(): Promise<IteratorResult<EventBatch, undefined>> {
    this.#portions = undefined;
    if (!this.#done) {
      this.#done = true;
      this.#source.memory.end();
      await this.#source.chunks.return?.();
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #maySkipTurn(): boolean {
    return (
      !this.#done &&
      this.#rest.length === 0 &&
      this.#portions === undefined &&
      this.#unbroken <= TURN_BYTES &&
      this.#source.memory.hasRoomFor(this.#openFrameBytes)
    );
  }

  /** The events of bytes that have arrived. */
  #read(piece: Uint8Array): Event[] {
    try {
      return this.#eventsOf(piece);
    } catch (thrown) {
      void this.#source.chunks.return?.();
      return this.#broken(thrown);
    }
  }

  #firstOf(batch: EventBatch): EventBatch {
    if (isPortion(batch)) return batch;
    return this.#nextPortion(new Portions(batch));
  }

  #nextPortion(portions: Portions): EventBatch {
    const portion = portions.take();
    this.#portions = portions.isEmpty ? undefined : portions;
    return portion;
  }

  async #events(): Promise<Event[]> {
    const { chunks, memory } = this.#source;
    try {
      if (!memory.hasRoomFor(this.#openFrameBytes)) await memory.waitFor(this.#openFrameBytes);
      if (this.#unbroken > TURN_BYTES) {
        this.#unbroken = 0;
        await this.#source.turns.next();
      }
      const piece = await this.#piece();
      if (piece !== undefined) {
        this.#unbroken += piece.length;
        return this.#eventsOf(piece);
      }
      const last = this.#upToTerminal(this.#reader.end());
      if (terminalIndex(last) !== -1) return last;
      return this.#ended([...last, this.#failure(new TransportProblem('reset', 'the answer ended early'))]);
    } catch (thrown) {
      await chunks.return?.();
      return this.#broken(thrown);
    }
  }

  #eventsOf(piece: Uint8Array): Event[] {
    const events = this.#upToTerminal(this.#reader.read(piece));
    this.#openFrameBytes = events.length > 0 ? 0 : this.#openFrameBytes + piece.length;
    return events;
  }

  async #piece(): Promise<Uint8Array | undefined> {
    if (this.#rest.length === 0) {
      const chunk = await this.#nextChunk();
      if (chunk === undefined) return undefined;
      this.#rest = chunk;
    }
    const chunk = this.#rest;
    const end = endOfPiece(chunk);
    this.#rest = end === chunk.length ? NOTHING : chunk.subarray(end);
    return end === chunk.length ? chunk : chunk.subarray(0, end);
  }

  async #nextChunk(): Promise<Uint8Array | undefined> {
    const next = await this.#source.chunks.next();
    return next.done === true ? undefined : next.value;
  }

  #broken(thrown: unknown): Event[] {
    return this.#ended([...this.#reader.release(), this.#failure(thrown)]);
  }

  #failure(thrown: unknown): Event {
    return brokenOff(problemOf(thrown), this.#source);
  }

  /** The events up to the terminal one, which is rewritten for the caller. */
  #upToTerminal(events: Event[]): Event[] {
    const at = terminalIndex(events);
    return at === -1 ? events : this.#ended(withRewrittenTerminal(events.slice(0, at + 1), this.#source));
  }

  /** After the terminal event the rest of the bytes is read in the background and forgotten. */
  #ended(events: Event[]): Event[] {
    this.#done = true;
    this.#source.memory.end();
    void readBeginning(this.#source.chunks, TRAILING_LIMITS);
    return events;
  }
}
