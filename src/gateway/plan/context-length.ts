import type { Catalog } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { findModelById } from '../../routing/resolve/model-id.ts';
import type { RankedCandidate } from '../../routing/rules/candidate.ts';
import { outputWithin } from '../../routing/rules/filters.ts';
import type { Prompt } from '../../tokens/prompt.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import { NothingLeft, type Plan } from './plan.ts';

/**
 * Prompts below this many characters per token of room are not counted: nearly every text has more characters a token.
 */
const CHARACTERS_PER_TOKEN = 2;

/**
 * The plan for a prompt of this length. Counting costs time, so it happens only for prompts that might not fit one of
 * the candidates; then `replan` plans again with the count. Throws 400 if no candidate is left.
 */
export async function fitContext(
  plan: Plan,
  { request, prompt }: Asked,
  replan: (promptTokens: number) => Plan,
  counting: Counting,
): Promise<Plan> {
  const { candidates } = plan;
  let tightest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) tightest = Math.min(tightest, roomOf(candidate, request));
  if (tightest === Number.POSITIVE_INFINITY) return plan;
  if (prompt.characters <= tightest * CHARACTERS_PER_TOKEN) return plan;
  const tokens = await prompt.count(counting.tokenizer, counting.signal);
  if (tokens <= tightest) return plan;
  try {
    return replan(tokens);
  } catch (error) {
    // There were candidates before the length was known, so the length rules all of them out.
    if (!(error instanceof NothingLeft)) throw error;
    throw new PromptTooLong(tooLongMessage(candidates, tokens, request), error.plan, candidates, tokens);
  }
}

/** No candidate holds the prompt. */
export class PromptTooLong extends NothingLeft {
  /** Those that could serve if the prompt were shorter; never empty. */
  readonly candidates: readonly RankedCandidate[];
  readonly promptTokens: number;

  constructor(
    message: string,
    plan: NothingLeft['plan'],
    candidates: readonly RankedCandidate[],
    promptTokens: number,
  ) {
    super('context-length', message, plan);
    this.candidates = candidates;
    this.promptTokens = promptTokens;
  }
}

/** A request and its prompt. */
interface Asked {
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
}

/** Dependencies of counting. */
interface Counting {
  readonly tokenizer: Tokenizer;
  readonly signal: AbortSignal;
}

/** The largest context of the models that a request names; infinite if one is unknown. */
export function largestContext({ models }: GenerationRequest, catalog: Catalog): number {
  const endpoints = models.map((id) => findModelById(id, catalog)?.endpoints ?? []);
  const isKnown = endpoints.length > 0 && endpoints.every(({ length }) => length > 0);
  if (!isKnown) return Number.POSITIVE_INFINITY;
  return endpoints.flat().reduce((most, endpoint) => Math.max(most, contextOf({ endpoint })), 0);
}

/** Tokens of the context that are left for the prompt. */
function roomOf(candidate: RankedCandidate, request: GenerationRequest): number {
  return contextOf(candidate) - outputWithin(candidate.endpoint, request);
}

function contextOf({ endpoint }: Pick<RankedCandidate, 'endpoint'>): number {
  return endpoint.contextLength ?? Number.POSITIVE_INFINITY;
}

function tooLongMessage(
  candidates: readonly RankedCandidate[],
  tokens: number,
  request: GenerationRequest,
): string {
  const largest = candidates.reduce((best, each) => (contextOf(each) > contextOf(best) ? each : best));
  const context = contextOf(largest);
  // Embeddings have no plugins.
  if (request.embedding !== undefined) {
    return `The longest input is about ${tokens} tokens long, but no endpoint of the requested model takes more than ${context}. Shorten it or choose a model with a larger context.`;
  }
  const output = outputWithin(largest.endpoint, request);
  return tokens > context
    ? `The prompt is about ${tokens} tokens long, but no endpoint of the requested model takes more than ${context}. Shorten it, choose a model with a larger context or switch context compression on.`
    : `The prompt is about ${tokens} tokens long and ${output} tokens of output are asked for, but no endpoint of the requested model holds more than ${context} together. Ask for less output, shorten the prompt, choose a model with a larger context or switch context compression on.`;
}
