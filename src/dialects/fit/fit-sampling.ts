import type { Endpoint } from '../../catalog/catalog.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { membersBeyond } from '../../kit/json/members.ts';
import { INCLUDE_LOGPROBS } from '../shared/include-values.ts';
import { fieldName } from '../shared/report/report.ts';
import type { FittedRequest } from './fit-reasoning.ts';
import { SAMPLING_FAMILIES, type SamplingFamily } from './sampling-families.ts';

type FittedEndpoint = Pick<Endpoint, 'modelId' | 'upstreamModel' | 'supportedParameters'>;

/** Row of each endpoint in `SAMPLING_FAMILIES`, found once; undefined = none. */
const FAMILIES = new WeakMap<FittedEndpoint, { readonly family: SamplingFamily | undefined }>();

function familyOf(endpoint: FittedEndpoint): SamplingFamily | undefined {
  const known = FAMILIES.get(endpoint);
  if (known !== undefined) return known.family;
  const names = [endpoint.upstreamModel, endpoint.modelId].map((name) => name.toLowerCase());
  const family = SAMPLING_FAMILIES.find(({ models }) => names.some((name) => models.test(name)));
  FAMILIES.set(endpoint, { family });
  return family;
}

/**
 * Removes the sampling settings that models of the endpoint's family answer with an error, at any provider. Settings
 * that the endpoint lists stay.
 */
export function fitSampling(request: GenerationRequest, endpoint: FittedEndpoint): FittedRequest {
  const { sampling } = request;
  for (const _setting in sampling) {
    const family = familyOf(endpoint);
    return family === undefined ? { request, report: NO_ENTRIES } : fitTo(family, request, endpoint);
  }
  return { request, report: NO_ENTRIES };
}

function fitTo(family: SamplingFamily, request: GenerationRequest, endpoint: FittedEndpoint): FittedRequest {
  const dropped = [...refusedOf(family, request, endpoint)];
  if (dropped.length === 0) return { request, report: NO_ENTRIES };
  const fields = new Set<string>(dropped.map(({ setting }) => setting));
  const names = dropped.map(({ setting }) => nameOf(setting, request));
  const report = dropped.map(
    ({ detail }, index): TranslationEntry => ({ field: names[index] as string, action: 'dropped', detail }),
  );
  const sampling = Object.fromEntries(
    Object.entries(request.sampling).filter(([setting]) => !fields.has(setting)),
  ) as Sampling;
  const body = (membersBeyond(request.body, new Set(names)) ?? {}) as JsonObject;
  const fitted = { ...request, sampling, body };
  return { request: fields.has('logprobs') ? withoutLogprobs(fitted) : fitted, report };
}

/** Where the caller has asked for the setting: log probabilities may stand in the list `include`. */
function nameOf(setting: keyof Sampling, { formatFacts, include }: GenerationRequest): string {
  const index = setting === 'logprobs' ? (include?.indexOf(INCLUDE_LOGPROBS) ?? -1) : -1;
  return index < 0 ? fieldName(setting, formatFacts) : `include[${index}]`;
}

function withoutLogprobs(request: GenerationRequest): GenerationRequest {
  if (request.include?.includes(INCLUDE_LOGPROBS) !== true) return request;
  const { include: _given, ...rest } = request.body;
  const include = request.include.filter((value) => value !== INCLUDE_LOGPROBS);
  return include.length === 0
    ? { ...request, include: undefined, body: rest }
    : { ...request, include, body: { ...rest, include } };
}

interface DroppedSetting {
  readonly setting: keyof Sampling;
  readonly detail: string;
}

const REFUSED = 'the model takes no such setting, or only its default';
const ONE_OF_BOTH = 'the model takes a temperature or top_p, not both';

function* refusedOf(
  { refused = {}, takesWithoutThinking, takesOneOfBoth }: SamplingFamily,
  { sampling, reasoning }: GenerationRequest,
  { supportedParameters }: FittedEndpoint,
): Iterable<DroppedSetting> {
  const isTaken = takesWithoutThinking === true && reasoning?.effort === 'none';
  for (const setting of isTaken ? [] : (Object.keys(refused) as (keyof Sampling)[])) {
    const value = sampling[setting];
    // An endpoint takes the settings that it lists; rendering removes and reports the others.
    if (value === undefined || value === refused[setting] || supportedParameters !== undefined) continue;
    yield { setting, detail: REFUSED };
  }
  if (takesOneOfBoth !== true || sampling.temperature === undefined || sampling.topP === undefined) return;
  // One of the two is not listed: rendering removes it.
  if (['temperature', 'top_p'].some((name) => supportedParameters?.has(name) === false)) return;
  // A temperature of 1 has no effect: then the caller meant `top_p`.
  const saysNothing = sampling.temperature === 1 && sampling.topP !== 1;
  yield { setting: saysNothing ? 'temperature' : 'topP', detail: ONE_OF_BOTH };
}
