import type { Endpoint, Model } from '../../../catalog/catalog.ts';
import { isPluginOff, pluginIn } from '../../../ir/plugins.ts';
import type { GenerationRequest } from '../../../ir/request.ts';

export const CONTEXT_COMPRESSION = 'context-compression';

/** Endpoints with at most this context compress unless the request says otherwise, tokens. */
const SMALL_CONTEXT_TOKENS = 8192;

/** Room that is left for the answer if the request sets no limit: a share of the context, and the most of it. */
const ANSWER_SHARE = 1 / 8;
const MAX_ANSWER_TOKENS = 1024;

/** Whether a request may be shortened: `small`: for endpoints with a small context. */
type CompressionWish = 'on' | 'off' | 'small';

/** An endpoint that could serve if the prompt were shorter. */
export interface TooSmall {
  readonly endpoint: Pick<Endpoint, 'contextLength' | 'maxMessages'>;
  readonly model: Pick<Model, 'outputModalities'>;
  /** Output that the request asks for there, tokens; 0 = no limit. */
  readonly outputTokens: number;
}

/**
 * Tokens that a prompt has to fit into; undefined: the request must not be shortened. Endpoints count whose context
 * holds at least half of what is needed, else the largest.
 */
export function tokensToFit(
  request: GenerationRequest,
  candidates: readonly TooSmall[],
  promptTokens: number,
): number | undefined {
  const allowed = compressible(request, candidates);
  const half = allowed.filter(
    ({ endpoint, outputTokens }) => contextOf(endpoint) >= (promptTokens + outputTokens) / 2,
  );
  const largest = Math.max(...allowed.map(({ endpoint }) => contextOf(endpoint)));
  const targets = half.length > 0 ? half : allowed.filter(({ endpoint }) => contextOf(endpoint) === largest);
  const rooms = targets.map(roomOf);
  return rooms.length === 0 ? undefined : Math.min(...rooms);
}

/** Messages that a prompt may have; undefined: the request must not be shortened. */
export function messagesToFit(
  request: GenerationRequest,
  candidates: readonly TooSmall[],
): number | undefined {
  const allowed = compressible(request, candidates);
  return allowed.length === 0
    ? undefined
    : Math.max(...allowed.map(({ endpoint }) => endpoint.maxMessages ?? Number.POSITIVE_INFINITY));
}

function compressible(request: GenerationRequest, candidates: readonly TooSmall[]): readonly TooSmall[] {
  const wish = wishOf(request);
  if (wish === 'off' || request.embedding !== undefined) return [];
  return candidates.filter(
    ({ endpoint, model }) =>
      // A model that only makes images reads one description, which must not be cut.
      model.outputModalities.includes('text') &&
      (wish === 'on' || contextOf(endpoint) <= SMALL_CONTEXT_TOKENS),
  );
}

/** The plugin decides; without it `truncation` does. */
function wishOf(request: GenerationRequest): CompressionWish {
  const { truncation } = request;
  if (pluginIn(request, CONTEXT_COMPRESSION) !== undefined) return 'on';
  if (isPluginOff(request, CONTEXT_COMPRESSION)) return 'off';
  if (truncation === 'auto') return 'on';
  return truncation === 'disabled' ? 'off' : 'small';
}

function roomOf({ endpoint, outputTokens }: TooSmall): number {
  const context = contextOf(endpoint);
  const answer = Math.min(MAX_ANSWER_TOKENS, Math.floor(context * ANSWER_SHARE));
  return context - (outputTokens > 0 ? outputTokens : answer);
}

function contextOf({ contextLength }: Pick<Endpoint, 'contextLength'>): number {
  return contextLength ?? Number.POSITIVE_INFINITY;
}
