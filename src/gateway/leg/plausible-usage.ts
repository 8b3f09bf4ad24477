import type { Endpoint } from '../../catalog/catalog.ts';
import { mayCompact } from '../../dialects/shared/requests/billed-wishes.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { tokenCount, type Usage } from '../../ir/usage.ts';
import { isConceivable, MAX_HOSTED_CALLS, plausible, type UsageBounds } from '../../ir/usage-bounds.ts';
import { Prompt } from '../../tokens/prompt.ts';
import {
  type EndpointTools,
  mostCalls,
  mostSearches,
  NO_TOOLS,
  toolsAskedBy,
  withAskedTools,
} from '../admission/tools-asked.ts';

/** Counts up to this are believed without counting the prompt, which would cost more than they do. */
const BELIEVED_TOKENS = 50_000;

export function plausibleUsage(
  reported: Usage | undefined,
  request: GenerationRequest,
  endpoint: Endpoint | undefined,
): Usage | undefined {
  if (reported === undefined) return undefined;
  const hasTools = hasRunTools(reported);
  const tools = hasTools && endpoint !== undefined ? toolsAskedBy(request)(endpoint) : NO_TOOLS;
  const asked = hasTools ? withAskedTools(reported, tools) : reported;
  return plausible(asked, boundsOf(reported, request, endpoint, tools));
}

/** False if no model can have used what is reported. */
export function isConceivableUsage(
  reported: Usage,
  request: GenerationRequest,
  endpoint: Endpoint | undefined,
): boolean {
  const isAsked = hasRunTools(reported) && endpoint !== undefined;
  const tools = isAsked ? toolsAskedBy(request)(endpoint) : NO_TOOLS;
  return isConceivable(reported, boundsOf(reported, request, endpoint, tools));
}

function hasRunTools({ webSearchRequests, hosted, hostedCalls = 0 }: Usage): boolean {
  return webSearchRequests + hostedCalls > 0 || hosted !== undefined;
}

function boundsOf(
  reported: Usage,
  request: GenerationRequest,
  endpoint: Endpoint | undefined,
  tools: EndpointTools,
): UsageBounds {
  return {
    contextLength: contextOf(endpoint, request),
    maxOutputTokens: endpoint?.maxOutputTokens,
    promptCharacters: reported.inputTokens > BELIEVED_TOKENS ? charactersOf(request) : undefined,
    searches: mostSearches(tools),
    toolCalls: mostCalls(tools),
    mayCompact: mayCompact(request.body),
    modelCalls: reported.others === undefined ? 0 : advisorCalls(request),
    mayFallBack: request.body.fallbacks !== undefined,
  };
}

function advisorCalls({ tools }: GenerationRequest): number {
  return tools.reduce((sum, tool) => {
    if (tool.type !== 'hosted' || !tool.kind.startsWith('advisor')) return sum;
    return sum + (tokenCount(tool.value.max_uses) ?? MAX_HOSTED_CALLS);
  }, 0);
}

/** Tokens that all inputs may have together: each input of embeddings has a context of its own. */
function contextOf(endpoint: Endpoint | undefined, { embedding }: GenerationRequest): number | undefined {
  const context = endpoint?.contextLength;
  return context === undefined || embedding === undefined ? context : context * embedding.inputs.length;
}

/** Characters of the prompt; undefined if it has images or files, whose tokens have no characters. */
function charactersOf(request: GenerationRequest): number | undefined {
  const prompt = new Prompt(request);
  const { imageSizes, documents } = prompt.media;
  return imageSizes.length + documents > 0 ? undefined : prompt.characters;
}
