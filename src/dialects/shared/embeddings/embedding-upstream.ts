import { GatewayError } from '../../../ir/errors.ts';
import type { Event } from '../../../ir/events.ts';
import { NO_USAGE, tokenCount } from '../../../ir/usage.ts';
import { SSE_TYPE, SseReader } from '../../../kit/frames/sse.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import type {
  DecodeContext,
  DialectFacts,
  EmbeddingLimits,
  UpstreamDialect,
  UpstreamErrorInfo,
} from '../../dialect.ts';
import { endedEarly } from '../answers/broken-answers.ts';
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
export interface EmbeddingUpstream {
  readonly path: (model: string) => string;
  readonly limits: EmbeddingLimits;
  readonly renderRequest: UpstreamDialect['renderRequest'];
  readonly read: (body: JsonObject, context: DecodeContext) => VectorAnswer;
  readonly readError: (
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => UpstreamErrorInfo | undefined;
  readonly replacedPaths?: readonly string[];
}

/** The upstream half of a dialect of embeddings. Answers are whole: nothing is streamed. */
export function embeddingUpstream(parts: EmbeddingUpstream): UpstreamDialect {
  const { path, limits, renderRequest, read, readError, replacedPaths } = parts;
  return {
    embeddings: limits,
    maxAnswerValues: MAX_ANSWER_VALUES,
    ...(replacedPaths && { replacedPaths }),
    path,
    streamType: SSE_TYPE,
    createFrameReader: (maxBytes) => new SseReader(maxBytes),
    renderRequest,
    renderRelay: renderRequest,
    createDecoder: () => ({ decode: () => [], end: () => [{ type: 'failure', error: endedEarly() }] }),
    decodeBody: (body, context) => eventsOf(read(body, context), context),
    readError,
  };
}

/** Facts of a dialect without reasoning, searches or tools. */
export const EMBEDDING_FACTS: DialectFacts = { seals: { ofThoughts: () => false } };

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
    `The provider sent ${vectors} vectors for ${inputs} inputs`,
  );
}
