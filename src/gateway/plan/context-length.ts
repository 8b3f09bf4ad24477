import type { Catalog } from '../../catalog/catalog.ts';
import type { Overflow } from '../../ir/overflow.ts';
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
export function fitContext(
  plan: Plan,
  asked: Asked,
  replan: (promptTokens: number) => Plan,
  counting: Counting,
): Plan | Promise<Plan> {
  let tightest = Number.POSITIVE_INFINITY;
  for (const candidate of plan.candidates) tightest = Math.min(tightest, roomOf(candidate, asked.request));
  if (tightest === Number.POSITIVE_INFINITY) return plan;
  if (asked.prompt.characters <= tightest * CHARACTERS_PER_TOKEN) return plan;
  return fitCounted(plan, tightest, asked, replan, counting);
}

async function fitCounted(
  plan: Plan,
  tightest: number,
  { request, prompt }: Asked,
  replan: (promptTokens: number) => Plan,
  counting: Counting,
): Promise<Plan> {
  const { candidates } = plan;
  const tokens = await prompt.count(counting.tokenizer, counting.signal);
  if (tokens <= tightest) return plan;
  try {
    return replan(tokens);
  } catch (error) {
    // There were candidates before the length was known, so the length rules all of them out.
    if (!(error instanceof NothingLeft)) throw error;
    throw new PromptTooLong(overflowOf(candidates, tokens, request), error.plan, candidates);
  }
}

/** No candidate holds the prompt. */
export class PromptTooLong extends NothingLeft {
  /** Candidates that could serve if the prompt were shorter; never empty. */
  readonly candidates: readonly RankedCandidate[];
  override readonly overflow: PlannedOverflow;

  constructor(overflow: PlannedOverflow, plan: NothingLeft['plan'], candidates: readonly RankedCandidate[]) {
    super('context-length', messageOf(overflow), plan, { overflow });
    this.candidates = candidates;
    this.overflow = overflow;
  }
}

interface Asked {
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
}

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

/** A prompt that was counted before any call. */
export type PlannedOverflow = Required<Pick<Overflow, 'most' | 'prompt' | 'more'>> & Pick<Overflow, 'output'>;

function overflowOf(
  candidates: readonly RankedCandidate[],
  prompt: number,
  request: GenerationRequest,
): PlannedOverflow {
  const largest = candidates.reduce((best, each) => (contextOf(each) > contextOf(best) ? each : best));
  const most = contextOf(largest);
  // Embeddings have no plugins.
  if (request.embedding !== undefined) {
    const more = 'The longest input counts: shorten it or choose a model with a larger context.';
    return { most, prompt, more };
  }
  const advice = 'horten the prompt, choose a model with a larger context or switch context compression on.';
  return prompt > most
    ? { most, prompt, more: `S${advice}` }
    : {
        most,
        prompt,
        output: outputWithin(largest.endpoint, request),
        more: `Ask for less output, s${advice}`,
      };
}

/** The message for the log: the formats say the same in the words of their owners. */
function messageOf({ most, prompt, output, more }: PlannedOverflow): string {
  const asked = output === undefined ? '' : ` and ${output} tokens of output are asked for`;
  return `The prompt is about ${prompt} tokens long${asked}, and the requested model takes ${most}. ${more}`;
}
