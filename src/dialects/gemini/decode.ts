import { GatewayError } from '../../ir/errors.ts';
import type { Event, Seal } from '../../ir/events.ts';
import type { ItemStatus, Logprobs } from '../../ir/items.ts';
import { isSameUsage, laterUsage, type Usage } from '../../ir/usage.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { BrokenAnswer, endedEarly, unreadableAnswer } from '../shared/answers/broken-answers.ts';
import { idSeedOf } from '../shared/answers/made-ids.ts';
import { readListedFrame, STEP_LIMITS } from '../shared/answers/read-frame.ts';
import { Citations } from './citations.ts';
import { CallReader } from './decode-calls.ts';
import { ItemWriter } from './decode-content.ts';
import { failureOf } from './error.ts';
import { readBlock, readFinish } from './finish.ts';
import { functionNames } from './ids.ts';
import { traitsOf } from './model-traits.ts';
import { encryptedSeal, signatureSeal } from './reasoning.ts';
import { readServiceTier, readUsage } from './usage.ts';
import type { WirePart } from './wire.ts';

/**
 * Decodes one upstream stream. There is no end marker, and every chunk may have a finish reason: the answer ends with
 * the bytes.
 */
export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  return {
    decode(frame: Frame): Event[] {
      if (reader.isEnded) return [];
      const chunk = readListedFrame(frame, STEP_LIMITS, context.request.exactNumbers);
      if (chunk === undefined) return [];
      return chunk instanceof GatewayError ? reader.fail(chunk) : reader.read(chunk);
    },
    end: () => reader.cut(),
  };
}

// --- The answer -----------------------------------------------------------------------------------------------------

/** Upstream ids that may become part of our ids. */
const UPSTREAM_ID = /^[\w-]{1,48}$/;

const TOO_LARGE = 'The provider sent a tool call with more arguments than the gateway takes';

/** Parts that stay opaque. */
const UNMODELLED = [
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/**
 * Reads one answer, chunk by chunk; a whole body is an answer in one chunk. Never throws: skips what it cannot read.
 * After a terminal event it reads nothing more.
 */
class AnswerReader {
  readonly #citations = new Citations();
  readonly #writer = new ItemWriter((text) => this.#citations.take(text));
  readonly #calls: CallReader;
  #isStarted = false;
  #isEnded = false;
  /** Seed of ids that we make: constant in an answer, different in the next one. */
  #idSeed: string;
  /** Seal of the last text: it waits, because sources of the text may still follow. */
  #seal: Seal | undefined;
  #searches = 0;
  #usage: Usage | undefined;
  #feedback: JsonObject | undefined;
  #hasCandidate = false;
  #word: string | undefined;
  #message: string | undefined;
  #serviceTier: string | undefined;

  constructor(context: DecodeContext) {
    const { identify } = functionNames(context.request);
    this.#idSeed = idSeedOf(context);
    const makeId = (place: number) => `call_${this.#idSeed}_${place}`;
    this.#calls = new CallReader(this.#writer, identify, makeId, context.request.exactNumbers);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** True if there is an answer, or the prompt was refused. */
  get hasAnswer(): boolean {
    return this.#hasCandidate || readBlock(this.#feedback) !== undefined;
  }

  read(chunk: JsonObject): Event[] {
    if (this.#isEnded) return [];
    if (chunk.error !== undefined && chunk.error !== null) return this.fail(failureOf(chunk));
    this.#start(chunk);
    this.#feedback = objectAt(chunk, 'promptFeedback') ?? this.#feedback;
    const candidate = objectsAt(chunk, 'candidates').find(({ index }) => (index ?? 0) === 0);
    if (candidate !== undefined) this.#readCandidate(candidate);
    if (!this.#isEnded)
      this.#readUsage(objectAt(chunk, 'usageMetadata'), textAt(chunk, 'modelVersion') ?? '');
    return this.#writer.take();
  }

  /** The upstream has ended the answer. */
  finish(): Event[] {
    if (this.#isEnded) return [];
    this.#isEnded = true;
    const isEmpty = this.#writer.count === 0;
    const block = isEmpty ? readBlock(this.#feedback) : undefined;
    const contents = { hasCalls: this.#calls.hasCalls, isEmpty };
    const announced = { word: this.#word, message: this.#message, serviceTier: this.#serviceTier };
    const end = block ?? readFinish(announced, contents);
    const isCut = end.type === 'finish' && (end.reason === 'length' || end.reason === 'content-filter');
    if (end.type === 'finish') this.#closeAll(isCut ? 'incomplete' : 'completed');
    this.#writer.emit(end);
    return this.#writer.take();
  }

  /** The bytes have ended. Without a finish reason in the last chunk the answer is incomplete. */
  cut(): Event[] {
    if (this.#isEnded) return [];
    if (this.#word !== undefined || readBlock(this.#feedback) !== undefined) return this.finish();
    return this.fail(endedEarly());
  }

  fail(error: GatewayError): Event[] {
    this.#end(error);
    return this.#writer.take();
  }

  // --- Start and end ------------------------------------------------------------------------------------------------

  #end(error: GatewayError): void {
    this.#isEnded = true;
    this.#writer.emit({ type: 'failure', error });
  }

  #start(chunk: JsonObject): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const [id, model] = [textAt(chunk, 'responseId'), textAt(chunk, 'modelVersion')];
    if (id !== undefined && UPSTREAM_ID.test(id)) this.#idSeed = id;
    this.#writer.emit({
      type: 'start',
      ...(id !== undefined && { upstreamId: id }),
      ...(model !== undefined && { upstreamModel: model }),
    });
  }

  #readUsage(metadata: JsonObject | undefined, model: string): void {
    if (metadata === undefined) return;
    this.#serviceTier = readServiceTier(metadata) ?? this.#serviceTier;
    const usage = readUsage(metadata, billed(this.#searches, model));
    if (usage === undefined) return;
    const known = laterUsage(this.#usage, usage);
    if (isSameUsage(this.#usage, known)) return;
    this.#usage = known;
    this.#writer.emit({ type: 'usage', usage: known });
  }

  // --- Content ------------------------------------------------------------------------------------------------------

  #readCandidate(candidate: JsonObject): void {
    this.#hasCandidate = true;
    this.#citations.read(candidate);
    this.#searches = Math.max(this.#searches, this.#citations.searches);
    let logprobs = readLogprobs(candidate);
    for (const part of objectsAt(objectAt(candidate, 'content'), 'parts')) {
      if (this.#readPart(part, logprobs)) logprobs = undefined;
      if (this.#isEnded) return;
    }
    this.#word = textAt(candidate, 'finishReason') ?? this.#word;
    this.#message = textAt(candidate, 'finishMessage') ?? this.#message;
  }

  /** Reads one part; true if it was text, to which the log probabilities of the chunk belong. */
  #readPart(part: JsonObject, logprobs: Logprobs | undefined): boolean {
    const signature = textAt(part, 'thoughtSignature');
    const call = objectAt(part, 'functionCall');
    if (call !== undefined) {
      this.#writeSeal();
      if (!this.#calls.read(call, signature)) this.#end(new BrokenAnswer(TOO_LARGE));
      return false;
    }
    const text = stringAt(part, 'text');
    if (text !== undefined) return this.#readText(text, part.thought === true, signature, logprobs);
    if (part.thought !== true) this.#readMedia(part, signature);
    return false;
  }

  #readText(
    text: string,
    isThought: boolean,
    signature: string | undefined,
    logprobs: Logprobs | undefined,
  ): boolean {
    if (text === '' && signature === undefined) return false;
    this.#beginOther();
    if (isThought) {
      if (text !== '') this.#writer.writeThought(text);
      if (signature !== undefined) this.#writer.sealThoughts(signatureSeal(signature));
      return false;
    }
    if (text !== '') this.#writer.writeText(text, logprobs);
    if (signature !== undefined) {
      this.#seal = text === '' ? encryptedSeal(signature) : signatureSeal(signature);
    }
    return text !== '';
  }

  #readMedia(part: WirePart, signature: string | undefined): void {
    const inline = objectAt(part, 'inlineData');
    const mediaType = textAt(inline, 'mimeType') ?? '';
    const data = textAt(inline, 'data');
    if (data !== undefined && mediaType.startsWith('image/')) {
      this.#beginOther();
      this.#writer.writeImage({ kind: 'base64', mediaType, data });
      if (signature !== undefined) this.#seal = signatureSeal(signature);
    } else if (UNMODELLED.some((kind) => objectAt(part, kind) !== undefined)) {
      this.#beginOther();
      this.#writer.writeOpaque(part);
    } else if (signature !== undefined) {
      this.#beginOther();
      this.#seal = encryptedSeal(signature);
    }
  }

  /** Ends what came before a part that is no call: the open call, and the seal of the last text. */
  #beginOther(): void {
    this.#calls.end('completed');
    this.#writeSeal();
  }

  #writeSeal(): void {
    if (this.#seal === undefined) return;
    const seal = this.#seal;
    this.#seal = undefined;
    this.#writer.writeSeal(seal, undefined);
  }

  #closeAll(lastStatus: ItemStatus): void {
    this.#calls.end(lastStatus);
    this.#writer.close(lastStatus);
    this.#writeSeal();
  }
}

/** Searches as they are billed: for each query, or once for each prompt (Gemini API pricing, grounding). */
function billed(searches: number, model: string): number {
  return searches > 1 && traitsOf(model).billsSearchesOnce ? 1 : searches;
}

// --- Log probabilities ----------------------------------------------------------------------------------------------

/** Log probabilities of a candidate as the representation has them, one entry per token; undefined = none. */
function readLogprobs(candidate: JsonObject): Logprobs | undefined {
  const result = objectAt(candidate, 'logprobsResult');
  const chosen = objectsAt(result, 'chosenCandidates');
  if (chosen.length === 0) return undefined;
  const top = objectsAt(result, 'topCandidates');
  return chosen.map((token, position) => ({
    ...entryOf(token),
    top_logprobs: objectsAt(top[position], 'candidates').map(entryOf),
  }));
}

function entryOf(candidate: JsonObject): JsonObject {
  const token = stringAt(candidate, 'token') ?? '';
  return { token, logprob: numberAt(candidate, 'logProbability') ?? 0, bytes: [...Buffer.from(token)] };
}

// --- Whole bodies ---------------------------------------------------------------------------------------------------

export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  const reader = new AnswerReader(context);
  const events = reader.read(body);
  if (reader.isEnded) return events;
  return [...events, ...(reader.hasAnswer ? reader.finish() : reader.fail(unreadableAnswer()))];
}
