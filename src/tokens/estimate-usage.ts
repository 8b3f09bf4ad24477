import type { GenerationRequest } from '../ir/request.ts';
import { type Omission, type Result, writtenItems } from '../ir/result.ts';
import { NO_USAGE, type Usage } from '../ir/usage.ts';
import { addItem } from './add-parts.ts';
import { TokenCollector } from './part-counter.ts';
import { countPrompt } from './prompt.ts';
import { charactersOf } from './text-slices.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Estimates the tokens of an answer whose upstream reported none. Cannot be aborted: every answer is charged. */
export async function estimateUsage(
  request: GenerationRequest,
  result: Result,
  tokenizer: Tokenizer,
): Promise<Usage> {
  if (request.embedding !== undefined) return estimateEmbedded(request, result, tokenizer);
  const reasoning = new TokenCollector();
  const rest = new TokenCollector();
  const written = writtenItems(result.items);
  for (const item of written) addItem(item, item.type === 'reasoning' ? reasoning : rest);
  const [inputTokens, keptReasoning, keptRest, omittedReasoning, omittedRest] = await Promise.all([
    countPrompt(request, tokenizer),
    reasoning.count(tokenizer),
    rest.count(tokenizer),
    countOmitted(result.omitted?.reasoning, tokenizer),
    countOmitted(result.omitted?.other, tokenizer),
  ]);
  const reasoningTokens = keptReasoning + omittedReasoning;
  return {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: reasoningTokens + keptRest + omittedRest,
    reasoningTokens,
    imageTokens: 0,
    webSearchRequests: 0,
    source: 'estimated',
  };
}

/** Estimates the usage of embeddings: of the inputs that have a vector. */
async function estimateEmbedded(
  request: GenerationRequest,
  { vectors = [] }: Result,
  tokenizer: Tokenizer,
): Promise<Usage> {
  const { embedding } = request;
  const embedded = embedding && { ...embedding, inputs: embedding.inputs.slice(0, vectors.length) };
  const inputTokens = await countPrompt({ ...request, embedding: embedded }, tokenizer);
  return { ...NO_USAGE, inputTokens, source: 'estimated' };
}

/** Scales the tokens of a sample up to the omitted text. */
async function countOmitted(omission: Omission | undefined, tokenizer: Tokenizer): Promise<number> {
  if (omission === undefined || omission.characters === 0) return 0;
  const { characters, sample } = omission;
  return Math.ceil(((await tokenizer.count(sample)) * characters) / charactersOf(sample));
}
