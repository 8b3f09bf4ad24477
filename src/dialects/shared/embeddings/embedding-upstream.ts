import type { Vector } from '../../../ir/embedding.ts';
import type { GatewayError } from '../../../ir/errors.ts';
import type { Event } from '../../../ir/events.ts';
import { NO_USAGE, tokenCount } from '../../../ir/usage.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import { countText } from '../../../kit/text/count-text.ts';
import type { DecodeContext, EmbeddingUpstream } from '../../dialect.ts';
import { BrokenAnswer } from '../answers/broken-answers.ts';
import { lengthOfVector, vectorIn } from './vectors.ts';

/** Values of an answer: more than any call of the gateway returns (1,000 vectors of 4,096 numbers). */
const MAX_ANSWER_VALUES = 4_000_000;

export interface VectorAnswer {
  /** In the order of the inputs; undefined = the body is no answer. */
  readonly vectors: readonly (Json | undefined)[] | undefined;
  readonly inputTokens: unknown;
  readonly id?: string | undefined;
}

export interface EmbeddingInterface
  extends Pick<EmbeddingUpstream, 'path' | 'embeddings' | 'renderRequest' | 'readError' | 'replacedPaths'> {
  readonly read: (body: JsonObject, context: DecodeContext) => VectorAnswer;
}

/** The upstream half of a dialect of embeddings. Answers are whole: nothing is streamed. */
export function embeddingUpstream({ read, ...own }: EmbeddingInterface): EmbeddingUpstream {
  return {
    maxAnswerValues: MAX_ANSWER_VALUES,
    ...own,
    decodeBody: (body, context) => eventsOf(read(body, context), context),
  };
}

function eventsOf({ vectors, inputTokens, id }: VectorAnswer, { request }: DecodeContext): Event[] {
  const { inputs = [], encoding = 'float', dimensions } = request.embedding ?? {};
  const given = vectors?.filter((vector) => !isMissing(vector)) ?? [];
  const whole = given.map((vector) => vectorIn(encoding, vector)).filter((vector) => vector !== undefined);
  const error =
    whole.length < given.length
      ? unreadableVector()
      : (wrongNumber(whole.length, vectors?.length ?? 0, inputs.length) ?? wrongLength(whole, dimensions));
  const counted = tokenCount(inputTokens) ?? 0;
  // Zero tokens is no count.
  const usage = counted === 0 ? [] : [usageEvent(counted)];
  if (error !== undefined) return [...usage, { type: 'failure', error }];
  return [
    { type: 'start', ...(id !== undefined && { upstreamId: id }) },
    { type: 'vectors', vectors: whole },
    ...usage,
    { type: 'finish', reason: 'stop' },
  ];
}

function usageEvent(inputTokens: number): Event {
  return { type: 'usage', usage: { ...NO_USAGE, inputTokens, source: 'measured' } };
}

function isMissing(vector: Json | undefined): boolean {
  return (
    vector === undefined || vector === null || vector === '' || (Array.isArray(vector) && !vector.length)
  );
}

function unreadableVector(): GatewayError {
  return badAnswer('a vector that is neither a list of numbers nor base64 of 32-bit numbers');
}

/** `entries`: vectors with those that are missing. */
function wrongNumber(vectors: number, entries: number, inputs: number): GatewayError | undefined {
  if (vectors === inputs && entries === inputs) return undefined;
  return badAnswer(`${countText(vectors, 'vector')} for ${countText(inputs, 'input')}`);
}

/** The failure of vectors that differ in length, or that are not as long as the caller asked; else undefined. */
export function wrongLength(
  vectors: readonly Vector[],
  dimensions: number | undefined,
): GatewayError | undefined {
  const [length = 0, ...others] = new Set(vectors.map(lengthOfVector));
  if (others.length > 0)
    return badAnswer(
      `vectors of different lengths: ${[length, ...others].slice(0, 2).join(' and ')} numbers`,
    );
  if (dimensions === undefined || vectors.length === 0 || length === dimensions) return undefined;
  return badAnswer(`vectors of ${countText(length, 'number')} although dimensions asked for ${dimensions}`);
}

function badAnswer(sent: string): GatewayError {
  return new BrokenAnswer(`The provider sent ${sent}`);
}
