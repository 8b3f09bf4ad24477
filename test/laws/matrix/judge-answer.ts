import type { ReplyContext } from '../../../src/dialects/dialect.ts';
import { DIALECTS } from '../../../src/dialects/dialects.ts';
import { type Event, terminalOf } from '../../../src/ir/events.ts';
import { fold } from '../../../src/ir/folding/fold.ts';
import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import { NO_USAGE } from '../../../src/ir/usage.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type AnswerFeature, GREETINGS } from './answer-feature.ts';
import type { WireAnswer } from './answers/wire-answer.ts';
import { type Lane, parse, VENDOR } from './judge-request.ts';
import { readReply } from './read-reply.ts';
import { holds } from './request-feature.ts';
import type { Verdict } from './verdict.ts';

/** How a caller may receive an answer. */
export const WAYS = ['stream', 'body'] as const;

export type Way = (typeof WAYS)[number];

/** An upstream's answer as the caller receives it; a stream is folded into a whole answer. */
export function receive(
  answer: WireAnswer,
  asked: JsonObject,
  format: Format,
  upstream: DialectName,
  lane: Lane,
  way: Way,
): JsonObject {
  const text = receivedText(answer, asked, format, upstream, lane, way);
  return way === 'body' ? JSON.parse(text) : readReply(format, text);
}

/** An upstream's answer as the caller receives it: the text of a stream or of a whole body. */
export function receivedText(
  answer: WireAnswer,
  asked: JsonObject,
  format: Format,
  upstream: DialectName,
  lane: Lane,
  way: Way,
): string {
  const request = parse(format, { ...asked, ...(way === 'stream' && { stream: true }) });
  const events = settled(decoded(answer, request, upstream, lane === 'relay', way));
  const inbound = DIALECTS[format].inbound;
  if (way === 'body') {
    const result = fold(events);
    if (result.failure !== undefined) throw result.failure;
    return JSON.stringify(inbound.encodeBody(result, replyTo(request)));
  }
  const encoder = inbound.createEncoder(replyTo(request));
  return events.map((event) => encoder.encode([event])).join('');
}

function decoded(
  answer: WireAnswer,
  request: GenerationRequest,
  upstream: DialectName,
  relay: boolean,
  way: Way,
): Event[] {
  const dialect = DIALECTS[upstream].upstream;
  if (dialect === undefined) throw new Error(`no upstream dialect ${upstream}`);
  if (way === 'body') return dialect.decodeBody(answer.body, { request, relay });
  const decoder = dialect.createDecoder({ request, relay });
  return [...answer.frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

/** As the gateway does it: the terminal event comes settled, as a plain event. */
function settled(events: readonly Event[]): Event[] {
  const { usage = NO_USAGE } = fold(events);
  const bill = { totalNanos: 1500n, inputNanos: 500n, outputNanos: 1000n, isByok: false };
  const passing: Event[] = [];
  for (const event of events) {
    const terminal = terminalOf(event);
    if (event.type === 'relay' || terminal === undefined) passing.push(event);
    if (terminal !== undefined) return [...passing, { ...terminal, settled: { usage, bill } }];
  }
  throw new Error('the answer has no end');
}

function replyTo(request: GenerationRequest): ReplyContext {
  return {
    vendor: VENDOR,
    request,
    generationId: 'gen-1',
    createdAtMs: 1_700_000_000_000,
    now: () => 1_700_000_001_000,
    model: 'acme/large',
    provider: 'Acme',
    serviceTier: 'default',
  };
}

/** Lets an upstream answer and judges by what the caller receives. */
export function judgeAnswer(
  feature: AnswerFeature,
  format: Format,
  upstream: DialectName,
  lane: Lane,
  way: Way,
): Verdict {
  const relayed = lane === 'relay' ? feature.relayed?.[upstream] : undefined;
  const answer = relayed ?? feature.answered[upstream];
  const asked = feature.asked === undefined ? GREETINGS[format] : feature.asked[format];
  if (answer === undefined || asked === undefined) return '-';
  const reply = receive(answer, asked, format, upstream, lane, way);
  const reads = feature.reads[format];
  if (reads === undefined) return 'dropped';
  if (holds(reads.kept, reply)) return 'kept';
  return reads.adapted !== undefined && holds(reads.adapted, reply) ? 'adapted' : 'dropped';
}
