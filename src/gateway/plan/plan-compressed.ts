import { GatewayError } from '../../ir/errors.ts';
import type { Item } from '../../ir/items.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { andThen, orElse } from '../../kit/loop/and-then.ts';
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

/** What `planLeg` gets besides the request and whether it may be relayed. */
type PlanFacts = readonly [input: GenerationInput, settings: GatewaySettings, dependencies: PlanDependencies];

/**
 * Plans a leg as `planLeg` does. A prompt that no endpoint holds is shortened if the request allows it: only here it is
 * known which endpoints there are and how long the prompt is.
 */
export function planCompressed(
  accepted: AcceptedRequest,
  input: GenerationInput,
  settings: GatewaySettings,
  mayRelay: boolean,
  dependencies: PlanDependencies,
): CompressedPlan | Promise<CompressedPlan> {
  const facts: PlanFacts = [input, settings, dependencies];
  const fitting = orElse<CompressedPlan>(
    () => planned(accepted, mayRelay, facts),
    (failure) => planShortened(accepted, failure, facts),
  );
  return andThen(fitting, (fitted) => withinMessages(accepted, fitted, facts));
}

/** Plans a leg of the whole prompt, for a count of it: also if no candidate holds the prompt. */
export const planWhole: typeof planCompressed = (accepted, input, settings, mayRelay, dependencies) =>
  orElse<CompressedPlan>(
    () => planned(accepted, mayRelay, [input, settings, dependencies]),
    (failure) => {
      if (!(failure instanceof PromptTooLong)) throw failure;
      const { request, prompt } = accepted;
      return { request, prompt, plan: { ...failure.plan, candidates: failure.candidates } };
    },
  );

function planned(
  asked: AcceptedRequest,
  mayRelay: boolean,
  [input, settings, dependencies]: PlanFacts,
): CompressedPlan | Promise<CompressedPlan> {
  const { request, prompt } = asked;
  return andThen(planLeg(asked, input, settings, mayRelay, dependencies), ({ plan }) => ({
    request,
    prompt,
    plan,
  }));
}

async function planShortened(
  accepted: AcceptedRequest,
  failure: unknown,
  facts: PlanFacts,
): Promise<CompressedPlan> {
  if (!(failure instanceof PromptTooLong)) throw failure;
  const [input, , dependencies] = facts;
  const { request, tokens } = await shortened(accepted.request, failure, dependencies, input.signal);
  const asked = { ...accepted, request, prompt: new Prompt(request) };
  return noted(await planned(asked, false, facts), 'tokens', failure.overflow.prompt, tokens);
}

/** The plan without candidates that take fewer messages; with fewer messages if none takes so many. */
function withinMessages(
  accepted: AcceptedRequest,
  fitting: CompressedPlan,
  facts: PlanFacts,
): CompressedPlan | Promise<CompressedPlan> {
  const { request, plan } = fitting;
  if (plan.candidates.every(({ endpoint }) => endpoint.maxMessages === undefined)) return fitting;
  const messages = countMessages(request.items);
  const holding = plan.candidates.filter((candidate) => holds(candidate, messages));
  if (holding.length === plan.candidates.length) return fitting;
  if (holding.length > 0) return { ...fitting, plan: { ...plan, candidates: holding } };
  const fewer = withFewerMessages(request, plan, messages);
  const asked = { ...accepted, request: fewer, prompt: new Prompt(fewer) };
  const count = countMessages(fewer.items);
  return andThen(planned(asked, false, facts), (again) => {
    const replanned = noted(again, 'messages', messages, count);
    const candidates = replanned.plan.candidates.filter((candidate) => holds(candidate, count));
    const pipeline = [...plan.pipeline, ...replanned.plan.pipeline];
    return { ...replanned, plan: { ...replanned.plan, candidates, pipeline } };
  });
}

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
  fitting: CompressedPlan,
  inputType: 'tokens' | 'messages',
  original: number,
  compressed: number,
): CompressedPlan {
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
  return { ...fitting, plan: { ...fitting.plan, pipeline: [...fitting.plan.pipeline, entry] } };
}
