import { GatewayError } from '../ir/errors.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Candidate, Rejection } from '../routing/candidate.ts';
import { countPrompt, promptCharacters } from './estimate.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Prompts below this many characters per token of context are not worth counting: nearly every text is longer than that. */
const CHARACTERS_PER_TOKEN = 2;

/** The candidates whose context holds the prompt, and those it is too long for. */
export interface ContextFit {
  readonly fitting: readonly Candidate[];
  readonly rejected: readonly Rejection[];
}

/** Counting costs time, so it happens only for prompts that might not fit. Too long for every candidate: 400. */
export async function fitContext(
  candidates: readonly Candidate[],
  request: GenerationRequest,
  tokenizer: Tokenizer,
): Promise<ContextFit> {
  const smallest = Math.min(...candidates.map(contextOf));
  if (promptCharacters(request) <= smallest * CHARACTERS_PER_TOKEN)
    return { fitting: candidates, rejected: [] };
  const tokens = await countPrompt(request, tokenizer);
  const fitting = candidates.filter((candidate) => tokens <= contextOf(candidate));
  if (fitting.length === 0) throw tooLong(tokens, Math.max(...candidates.map(contextOf)));
  const rejected = candidates
    .filter((candidate) => tokens > contextOf(candidate))
    .map((candidate) => ({
      endpoint: candidate.endpoint,
      filter: 'context_length',
      reason: `the prompt is about ${tokens} tokens long, the context holds ${contextOf(candidate)}`,
    }));
  return { fitting, rejected };
}

function contextOf({ endpoint }: Candidate): number {
  return endpoint.contextLength ?? Number.POSITIVE_INFINITY;
}

function tooLong(tokens: number, largest: number): GatewayError {
  return new GatewayError(
    'context-length',
    `The prompt is about ${tokens} tokens long, but no endpoint of the requested model takes more than ${largest}. Shorten it or choose a model with a larger context.`,
  );
}
