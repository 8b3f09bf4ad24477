import { GatewayError } from '../../../ir/errors.ts';
import type { Event } from '../../../ir/events.ts';
import { NO_USAGE, tokenCount } from '../../../ir/usage.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import { countText } from '../../../kit/text/count-text.ts';
import type { DecodeContext, EmbeddingUpstream } from '../../dialect.ts';
import { vectorIn } from './vectors.ts';

/** Values of an answer: more than any call of the gateway returns (1,000 vectors of 4,096 numbers). */
const MAX_ANSWER_VALUES = 4_000_000;

/** Answer of an upstream. */
export interface VectorAnswer {
  /** In the order of the inputs; undefined = the body is no answer. */
  readonly vectors: readonly (Json | undefined)[] | undefined;
  /** Tokens of all inputs together, as the upstream counted them. */
  readonly inputTokens: unknown;
  readonly id?: string | undefined;
}

/** Differences between upstreams of embeddings. */
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
  const { inputs = [], encoding = 'float' } = request.embedding ?? {};
  const written = vectors?.map((vector) => vectorIn(encoding, vector)) ?? [];
  const whole = written.filter((vector) => vector !== undefined);
  if (whole.length !== inputs.length || whole.length !== written.length) {
    return [{ type: 'failure', error: wrongNumber(whole.length, inputs.length) }];
  }
  const counted = tokenCount(inputTokens) ?? 0;
  return [
    { type: 'start', ...(id !== undefined && { upstreamId: id }) },
    { type: 'vectors', vectors: whole },
    // Zero tokens is no count.
    ...(counted === 0 ? [] : [usageEvent(counted)]),
    { type: 'finish', reason: 'stop' },
  ];
}

function usageEvent(inputTokens: number): Event {
  return { type: 'usage', usage: { ...NO_USAGE, inputTokens, source: 'measured' } };
}

function wrongNumber(vectors: number, inputs: number): GatewayError {
  return new GatewayError(
    'upstream-unavailable',
    `The provider sent ${countText(vectors, 'vector')} for ${countText(inputs, 'input')}`,
  );
}
