import type { GenerationRequest } from '../ir/request.ts';
import type { Candidate, Rejection } from '../routing/candidate.ts';
import { promptOf } from './estimate.ts';
import { NothingLeft, type Plan } from './plan.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Prompts below this many characters per token of room are not worth counting: nearly every text is longer than that. */
const CHARACTERS_PER_TOKEN = 2;

/**
 * The plan without the candidates whose context does not hold the prompt and the output that is asked for. Counting
 * costs time, so it happens only for prompts that might not fit. Nobody left: 400.
 */
export async function fitContext(
  plan: Plan,
  request: GenerationRequest,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<Plan> {
  const { candidates } = plan;
  const tightest = Math.min(...candidates.map((candidate) => roomOf(candidate, request)));
  if (tightest === Number.POSITIVE_INFINITY) return plan;
  const prompt = promptOf(request);
  if (prompt.characters <= tightest * CHARACTERS_PER_TOKEN) return plan;
  const tokens = await prompt.count(tokenizer, signal);
  const fits = (candidate: Candidate) => tokens <= roomOf(candidate, request);
  const rejected = [
    ...plan.rejected,
    ...candidates
      .filter((candidate) => !fits(candidate))
      .map((candidate) => rejectionOf(candidate, tokens, request)),
  ];
  const fitting = candidates.filter(fits);
  if (fitting.length === 0) {
    throw new NothingLeft('context-length', tooLongMessage(candidates, tokens, request), {
      ...plan,
      rejected,
    });
  }
  return { ...plan, candidates: fitting, rejected };
}

/** Tokens that the context leaves for the prompt. */
function roomOf(candidate: Candidate, request: GenerationRequest): number {
  return contextOf(candidate) - outputOf(candidate, request);
}

function contextOf({ endpoint }: Candidate): number {
  return endpoint.contextLength ?? Number.POSITIVE_INFINITY;
}

/** The output that is going to be asked of an endpoint: never more than it writes. */
function outputOf({ endpoint }: Candidate, { maxOutputTokens: asked }: GenerationRequest): number {
  return Math.min(asked ?? 0, endpoint.maxOutputTokens ?? Number.POSITIVE_INFINITY);
}

function rejectionOf(candidate: Candidate, tokens: number, request: GenerationRequest): Rejection {
  const output = outputOf(candidate, request);
  const needed = `the prompt is about ${tokens} tokens long${output > 0 ? `, ${output} of output are asked for` : ''}`;
  return {
    endpoint: candidate.endpoint,
    filter: 'context_length',
    reason: `${needed}, the context holds ${contextOf(candidate)}`,
  };
}

function tooLongMessage(
  candidates: readonly Candidate[],
  tokens: number,
  request: GenerationRequest,
): string {
  const largest = candidates.reduce((best, each) => (contextOf(each) > contextOf(best) ? each : best));
  const context = contextOf(largest);
  return tokens > context
    ? `The prompt is about ${tokens} tokens long, but no endpoint of the requested model takes more than ${context}. Shorten it or choose a model with a larger context.`
    : `The prompt is about ${tokens} tokens long and ${outputOf(largest, request)} tokens of output are asked for, but no endpoint of the requested model holds more than ${context} together. Ask for less output, shorten the prompt or choose a model with a larger context.`;
}
