import type { Endpoint } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { plausible, type Usage } from '../../ir/usage.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { searchesAskedBy } from '../admission/searches-asked.ts';
import { mayCompact } from '../request/may-compact.ts';

/** Counts up to this are believed without measuring the prompt: it costs more than they could. */
const BELIEVED_TOKENS = 50_000;

/** What an upstream reported, as far as it can be true. */
export function plausibleUsage(
  reported: Usage | undefined,
  request: GenerationRequest,
  endpoint: Endpoint | undefined,
): Usage | undefined {
  if (reported === undefined) return undefined;
  return plausible(reported, {
    contextLength: contextOf(endpoint, request),
    maxOutputTokens: endpoint?.maxOutputTokens,
    promptCharacters: reported.inputTokens > BELIEVED_TOKENS ? charactersOf(request) : undefined,
    searches: reported.webSearchRequests === 0 ? 0 : searchesAt(endpoint, request),
    mayCompact: mayCompact(request),
  });
}

/** Tokens that all inputs may have together: of embeddings each has a context of its own. */
function contextOf(endpoint: Endpoint | undefined, { embedding }: GenerationRequest): number | undefined {
  const context = endpoint?.contextLength;
  return context === undefined || embedding === undefined ? context : context * embedding.inputs.length;
}

function searchesAt(endpoint: Endpoint | undefined, request: GenerationRequest): number {
  return endpoint === undefined ? 0 : searchesAskedBy(request)(endpoint).most;
}

/** Tokens of pictures, files and what an upstream reads by itself are not in the characters of the prompt. */
function charactersOf(request: GenerationRequest): number | undefined {
  const prompt = new Prompt(request);
  const { images, documents } = prompt.worst;
  return images + documents > 0 ? undefined : prompt.characters;
}
