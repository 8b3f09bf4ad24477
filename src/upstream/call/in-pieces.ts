import type { Dialects } from '../../dialects/dialects.ts';
import { dialectOf } from '../../dialects/lane.ts';
import { wrongLength } from '../../dialects/shared/embeddings/embedding-upstream.ts';
import type { EmbeddingInput, EmbeddingSettings, Vector } from '../../ir/embedding.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { EventBatch } from '../../ir/events.ts';
import { Fold } from '../../ir/folding/fold.ts';
import { plusUsage, type Usage } from '../../ir/usage.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { LightAbortController } from '../../kit/loop/light-abort.ts';
import { type CallUpstream, type UpstreamAnswer, type UpstreamCall, UpstreamFailure } from '../upstream.ts';

/** Calls that one request has open at the same time. */
const MAX_CALLS_AT_ONCE = 8;

/**
 * Characters, or token ids, of the inputs of one call. OpenAI refuses more than 300,000 tokens in one call; this is
 * less in nearly every language.
 */
const MAX_CALL_LENGTH = 400_000;

/**
 * Splits a request for embeddings over several calls of one endpoint where it has more inputs than the endpoint takes
 * at once. All other calls pass as they are.
 *
 * The first piece is called alone: its failure is that of the call, and another endpoint may be tried. Afterwards up
 * to `MAX_CALLS_AT_ONCE` pieces run at the same time, and their vectors go on in the order of the inputs, each with
 * the usage so far. The first failure ends the whole; the other calls are aborted, and what was used counts.
 */
export function inPieces(callUpstream: CallUpstream, dialects: Partial<Dialects>): CallUpstream {
  return (call) =>
    call.request.embedding === undefined
      ? callUpstream(call)
      : callInPieces(call, call.request.embedding, callUpstream, dialects);
}

async function callInPieces(
  call: UpstreamCall,
  embedding: EmbeddingSettings,
  callUpstream: CallUpstream,
  dialects: Partial<Dialects>,
): Promise<UpstreamAnswer> {
  const pieces = piecesOf(embedding.inputs, maxInputsOf(call, dialects));
  const [first] = pieces;
  if (first === undefined || pieces.length === 1) return callUpstream(call);
  const { status, report, batches } = await callUpstream(pieceOf(call, embedding, first));
  return { status, report, batches: new Pieces(call, embedding, pieces, callUpstream).batches(batches) };
}

function maxInputsOf({ endpoint }: UpstreamCall, dialects: Partial<Dialects>): number {
  const limits = dialects[dialectOf(endpoint.provider, 'embeddings')]?.upstream.embeddings;
  const ofDialect = limits?.maxInputs(endpoint.upstreamModel) ?? Number.POSITIVE_INFINITY;
  return Math.min(ofDialect, endpoint.maxInputs ?? Number.POSITIVE_INFINITY);
}

/** The inputs in runs of at most `most`, each of bounded length; one input is never split. */
export function piecesOf(
  inputs: readonly EmbeddingInput[],
  most: number,
  maxLength = MAX_CALL_LENGTH,
): readonly (readonly EmbeddingInput[])[] {
  const pieces: EmbeddingInput[][] = [];
  let piece: EmbeddingInput[] = [];
  let length = 0;
  for (const input of inputs) {
    const isFull = piece.length >= most || (piece.length > 0 && length + input.length > maxLength);
    if (isFull || pieces.length === 0) {
      piece = [];
      length = 0;
      pieces.push(piece);
    }
    piece.push(input);
    length += input.length;
  }
  return pieces;
}

function pieceOf(
  call: UpstreamCall,
  embedding: EmbeddingSettings,
  inputs: readonly EmbeddingInput[],
): UpstreamCall {
  const { request } = call;
  const body = { ...request.body, input: inputs as unknown as JsonObject['input'] };
  return { ...call, request: { ...request, body, embedding: { ...embedding, inputs } } };
}

interface PieceEnd {
  readonly vectors: readonly Vector[];
  readonly usage: Usage | undefined;
}

const FAILED: PieceEnd = { vectors: [], usage: undefined };

class Pieces {
  readonly #call: UpstreamCall;
  readonly #embedding: EmbeddingSettings;
  readonly #pieces: readonly (readonly EmbeddingInput[])[];
  readonly #callUpstream: CallUpstream;
  readonly #stop = new LightAbortController();
  /** Pieces that have begun and were not looked at, by their index. */
  readonly #open = new Map<number, Promise<PieceEnd>>();
  #next = 1;
  /** The first failure of a piece: the others are stopped, so that they fail too. */
  #failure: unknown;
  #hasFailed = false;
  /** A call was stopped because another one failed: its upstream may bill it all the same. */
  #hasStopped = false;
  #usage: Usage | undefined;
  /** A vector of the first piece that ended: all have its length. */
  #sample: Vector | undefined;
  /** A piece came without usage: the sum would say too little, so that the gateway has to count. */
  #isUncounted = false;

  constructor(
    call: UpstreamCall,
    embedding: EmbeddingSettings,
    pieces: readonly (readonly EmbeddingInput[])[],
    callUpstream: CallUpstream,
  ) {
    this.#call = call;
    this.#embedding = embedding;
    this.#pieces = pieces;
    this.#callUpstream = callUpstream;
  }

  /** The vectors of all pieces as one answer. `first`: the answer to the first piece. */
  async *batches(first: UpstreamAnswer['batches']): AsyncGenerator<EventBatch, void, undefined> {
    const { signal } = this.#call;
    const forward = () => this.#stop.abort(signal.reason);
    if (signal.aborted) forward();
    else signal.addEventListener('abort', forward);
    try {
      this.#open.set(0, this.#endOf(first));
      for (let piece = 0; piece < this.#pieces.length; piece++) {
        const end = await this.#open.get(piece);
        this.#open.delete(piece);
        if (end === undefined || end === FAILED) {
          yield await this.#failed();
          return;
        }
        this.#begin();
        this.#add(end.usage);
        const isLast = piece === this.#pieces.length - 1;
        yield [
          { type: 'vectors', vectors: end.vectors },
          ...this.#usageEvents(),
          ...(isLast ? [{ type: 'finish', reason: 'stop' } as const] : []),
        ];
      }
    } finally {
      signal.removeEventListener('abort', forward);
      this.#stop.abort(GIVEN_UP);
    }
  }

  /** Begins as many further pieces as may run. */
  #begin(): void {
    while (this.#open.size < MAX_CALLS_AT_ONCE && this.#next < this.#pieces.length && !this.#hasFailed) {
      const inputs = this.#pieces[this.#next] ?? [];
      this.#open.set(this.#next, this.#run(inputs));
      this.#next += 1;
    }
  }

  async #run(inputs: readonly EmbeddingInput[]): Promise<PieceEnd> {
    try {
      const call = pieceOf({ ...this.#call, signal: this.#stop.signal }, this.#embedding, inputs);
      const { batches } = await this.#callUpstream(call);
      return await this.#endOf(batches);
    } catch (thrown) {
      return this.#failedPiece(thrown);
    }
  }

  async #endOf(batches: UpstreamAnswer['batches']): Promise<PieceEnd> {
    const fold = new Fold();
    for await (const batch of batches) fold.pushAll(batch);
    const { vectors = [], usage, failure } = fold.result();
    if (failure !== undefined) return this.#failedPiece(failure);
    this.#sample ??= vectors[0];
    const wrong = this.#sample && wrongLength([this.#sample, ...vectors], undefined);
    return wrong === undefined ? { vectors, usage } : this.#failedPiece(wrong);
  }

  #failedPiece(thrown: unknown): PieceEnd {
    if (this.#hasFailed) this.#hasStopped = true;
    else this.#failure = thrown;
    this.#hasFailed = true;
    this.#stop.abort(GIVEN_UP);
    return FAILED;
  }

  /** The end of the whole. Pieces that were whole before the others were stopped count. */
  async #failed(): Promise<EventBatch> {
    for (const end of await Promise.all(this.#open.values())) if (end !== FAILED) this.#add(end.usage);
    if (!(this.#failure instanceof GatewayError)) throw this.#failure;
    return [...this.#usageEvents(), { type: 'failure', error: this.#lossOf(this.#failure) }];
  }

  /** The failure with the loss of calls that were stopped, or whose vectors do not fit those of the others. */
  #lossOf(failure: GatewayError): GatewayError {
    if (!(failure instanceof UpstreamFailure)) {
      const { kind, message } = failure;
      return new UpstreamFailure(kind, message, 200, { cause: failure, lostBy: 'broken-off' });
    }
    return this.#hasStopped && failure.lostBy === undefined ? failure.withLost('broken-off') : failure;
  }

  #add(usage: Usage | undefined): void {
    if (usage === undefined) this.#isUncounted = true;
    else this.#usage = this.#usage === undefined ? usage : plusUsage(this.#usage, usage);
  }

  #usageEvents(): EventBatch {
    return this.#usage === undefined || this.#isUncounted ? [] : [{ type: 'usage', usage: this.#usage }];
  }
}

/** Why calls end whose vectors are of no use any more. */
const GIVEN_UP = new Error('another piece of the request failed');
