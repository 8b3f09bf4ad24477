import { GatewayError } from '../../ir/errors.ts';
import type { Item } from '../../ir/items.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { RankedCandidate } from '../../routing/rules/candidate.ts';
import { outputWithin } from '../../routing/rules/filters.ts';
import {
  CONTEXT_COMPRESSION,
  messagesToFit,
  type TooSmall,
  tokensToFit,
} from '../../stages/plugins/context-compression/compression-goal.ts';
import {
  countMessages,
  middleOut,
  middleOutMessages,
} from '../../stages/plugins/context-compression/middle-out.ts';
import { ItemWeights } from '../../tokens/item-weights.ts';
import { Prompt } from '../../tokens/prompt.ts';
import type { AcceptedRequest } from '../request/accept-request.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewaySettings } from '../request/settings.ts';
import { PromptTooLong } from './context-length.ts';
import type { Plan } from './plan.ts';
import { type LegPlan, type PlanDependencies, planLeg } from './plan-leg.ts';

/** A plan, and the request that it is for: shortened if it had to be. */
export interface CompressedPlan extends LegPlan {
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
}

/**
 * Plans a leg as `planLeg` does. A prompt that no endpoint holds is shortened if the request allows it: only here it is
 * known which endpoints there are and how long the prompt is.
 */
export async function planCompressed(
  accepted: AcceptedRequest,
  input: GenerationInput,
  settings: GatewaySettings,
  mayRelay: boolean,
  dependencies: PlanDependencies,
): Promise<CompressedPlan> {
  const planOf = (asked: AcceptedRequest, relays: boolean) =>
    planLeg(asked, input, settings, relays, dependencies);
  let fitting: CompressedPlan;
  try {
    fitting = { ...accepted, ...(await planOf(accepted, mayRelay)) };
  } catch (error) {
    if (!(error instanceof PromptTooLong)) throw error;
    const { request, tokens } = await shortened(accepted.request, error, dependencies, input.signal);
    const asked = { ...accepted, request, prompt: new Prompt(request) };
    fitting = { ...asked, ...noted(await planOf(asked, false), 'tokens', error.overflow.prompt, tokens) };
  }
  const { request, plan } = fitting;
  const messages = plan.candidates.some(({ endpoint }) => endpoint.maxMessages !== undefined)
    ? countMessages(request.items)
    : 0;
  const holding = plan.candidates.filter((candidate) => holds(candidate, messages));
  if (holding.length === plan.candidates.length) return fitting;
  if (holding.length > 0) return { ...fitting, plan: { ...plan, candidates: holding } };
  const fewer = withFewerMessages(request, plan, messages);
  const asked = { ...accepted, request: fewer, prompt: new Prompt(fewer) };
  const count = countMessages(fewer.items);
  const planned = noted(await planOf(asked, false), 'messages', messages, count);
  const candidates = planned.plan.candidates.filter((candidate) => holds(candidate, count));
  const pipeline = [...plan.pipeline, ...planned.plan.pipeline];
  return { ...asked, ...planned, plan: { ...planned.plan, candidates, pipeline } };
}

/** Plans a leg of the whole prompt, for a count of it: also if no candidate holds the prompt. */
export const planWhole: typeof planCompressed = async (accepted, ...rest) => {
  try {
    return { ...accepted, ...(await planLeg(accepted, ...rest)) };
  } catch (error) {
    if (!(error instanceof PromptTooLong)) throw error;
    return { ...accepted, plan: { ...error.plan, candidates: error.candidates } };
  }
};

/** Attempts to meet the goal: each counts the tokens of what is left. */
const MAX_ATTEMPTS = 6;

/** Each further attempt aims lower by this factor than its miss requires: tokens per character differ in a text. */
const RETRY_GOAL_FACTOR = 0.98;

async function shortened(
  request: GenerationRequest,
  error: PromptTooLong,
  { tokenizer }: Pick<PlanDependencies, 'tokenizer'>,
  signal: AbortSignal,
): Promise<{ readonly request: GenerationRequest; readonly tokens: number }> {
  const room = tokensToFit(request, error.candidates.map(tooSmallOf(request)), error.overflow.prompt);
  if (room === undefined || room <= 0) throw error;
  const weights = new ItemWeights(request, error.overflow.prompt);
  let goal = room;
  let tokens = error.overflow.prompt;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const items = middleOut(request.items, goal - weights.besides, weights);
    const shorter = { ...request, items };
    tokens = await new Prompt(shorter).count(tokenizer, signal);
    if (tokens <= room) return { request: shorter, tokens };
    goal *= (room / tokens) * RETRY_GOAL_FACTOR;
  }
  const more = `Context compression cannot make it fit: its instructions, tools and last message are about ${tokens} tokens long, and there is room for ${room}.`;
  throw new PromptTooLong({ ...error.overflow, more }, error.plan, error.candidates);
}

function withFewerMessages(
  request: GenerationRequest,
  { candidates }: Plan,
  messages: number,
): GenerationRequest {
  const most = messagesToFit(request, candidates.map(tooSmallOf(request)));
  const items: readonly Item[] | undefined =
    most === undefined ? undefined : middleOutMessages(request.items, most);
  if (items !== undefined && most !== undefined && countMessages(items) <= most) return { ...request, items };
  const limit = Math.max(...candidates.map(({ endpoint }) => endpoint.maxMessages ?? 0));
  const more = 'Send fewer, or switch context compression on.';
  throw new GatewayError(
    'context-length',
    `The prompt has ${messages} messages, and the requested model takes ${limit}. ${more}`,
    { overflow: { most: limit, prompt: messages, unit: 'messages', more } },
  );
}

function holds({ endpoint }: RankedCandidate, messages: number): boolean {
  return messages <= (endpoint.maxMessages ?? Number.POSITIVE_INFINITY);
}

function tooSmallOf(request: GenerationRequest): (candidate: RankedCandidate) => TooSmall {
  return ({ endpoint, model }) => ({ endpoint, model, outputTokens: outputWithin(endpoint, request) });
}

/** A plan whose pipeline says by how much the prompt was shortened. */
function noted(
  planned: LegPlan,
  inputType: 'tokens' | 'messages',
  original: number,
  compressed: number,
): LegPlan {
  const entry: PipelineEntry = {
    type: 'context_compression',
    name: CONTEXT_COMPRESSION,
    summary: `Shortened the prompt from ${original} to ${compressed} ${inputType}`,
    data: {
      engine: 'middle-out',
      input_type: inputType,
      original_count: original,
      compressed_count: compressed,
    },
  };
  return { ...planned, plan: { ...planned.plan, pipeline: [...planned.plan.pipeline, entry] } };
}
