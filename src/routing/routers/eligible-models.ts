import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Needs } from '../rules/needs.ts';
import { estimatePromptTokens } from './prompt-sample.ts';
import type { RouterInput } from './router.ts';

/** A model that a router may choose. */
export interface EligibleModel {
  readonly model: Model;
  /** Its endpoints that can serve the request; at least one. */
  readonly endpoints: readonly Endpoint[];
}

/** Parameters that decide the kind of answer: a model that would ignore one is a bad choice. */
const CAPABILITIES = ['tools', 'response_format', 'structured_outputs', 'reasoning'];

/**
 * The models that can serve a request, in the order of the catalogue. Models that lack a requested capability or whose
 * context is too short are left out if others remain.
 */
export function eligibleModels(
  { request, context }: RouterInput,
  isAllowed: (id: string) => boolean = () => true,
): EligibleModel[] {
  const { catalog, serves } = context;
  const serving: EligibleModel[] = [];
  for (const model of catalog.models) {
    if (!isAllowed(model.id) || !isAnswering(model, request)) continue;
    const endpoints = passing(model.endpoints, (endpoint) => serves(endpoint, model));
    if (endpoints.length > 0) serving.push({ model, endpoints });
  }
  const fitting = withEndpoints(serving, fitnessFor(request, context.needs));
  return fitting.length > 0 ? fitting : serving;
}

/** True if the model writes text, or the request names the modalities it wants. */
function isAnswering({ outputModalities }: Model, { modalities }: GenerationRequest): boolean {
  return modalities !== undefined || outputModalities.includes('text');
}

function fitnessFor(request: GenerationRequest, needs: Needs): (endpoint: Endpoint, model: Model) => boolean {
  const needed = CAPABILITIES.filter((name) => needs.parameters.has(name));
  const promptTokens = needs.promptTokens ?? estimatePromptTokens(request);
  return ({ supportedParameters, contextLength }, model) =>
    needed.every((name) => supportedParameters?.has(name) !== false) &&
    (contextLength ?? model.contextLength ?? Number.POSITIVE_INFINITY) >= promptTokens;
}

/** The models with only the endpoints that pass; models without one are dropped. */
export function withEndpoints(
  eligible: readonly EligibleModel[],
  isPassing: (endpoint: Endpoint, model: Model) => boolean,
): EligibleModel[] {
  const left: EligibleModel[] = [];
  for (const each of eligible) {
    const { model } = each;
    const endpoints = passing(each.endpoints, (endpoint) => isPassing(endpoint, model));
    if (endpoints === each.endpoints) left.push(each);
    else if (endpoints.length > 0) left.push({ model, endpoints });
  }
  return left;
}

/** Returns the list itself in the common case that all pass. */
function passing(
  endpoints: readonly Endpoint[],
  isPassing: (endpoint: Endpoint) => boolean,
): readonly Endpoint[] {
  return endpoints.every(isPassing) ? endpoints : endpoints.filter(isPassing);
}
