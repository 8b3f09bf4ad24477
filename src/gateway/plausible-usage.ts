import type { Endpoint } from '../catalog/catalog.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { isPlausible, type Usage } from '../ir/usage.ts';
import { needsOf } from '../routing/rules/needs.ts';
import { Prompt } from './estimate.ts';

/** Counts up to this are believed without measuring the prompt: it costs more than they could. */
const BELIEVED_TOKENS = 50_000;

/** What an upstream reported, unless it cannot be true. */
export function plausibleUsage(
  reported: Usage | undefined,
  request: GenerationRequest,
  endpoint: Endpoint | undefined,
): Usage | undefined {
  if (reported === undefined) return undefined;
  const bounds = {
    contextLength: endpoint?.contextLength,
    maxOutputTokens: endpoint?.maxOutputTokens,
    promptCharacters: reported.inputTokens > BELIEVED_TOKENS ? charactersOf(request) : undefined,
  };
  return isPlausible(reported, bounds) ? reported : undefined;
}

/** Nobody knows how many tokens a picture is. */
function charactersOf(request: GenerationRequest): number | undefined {
  return needsOf(request).inputModalities.size > 0 ? undefined : new Prompt(request).characters;
}
