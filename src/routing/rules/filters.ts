import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { exceeds, outputLimitAt } from '../../catalog/output-limit.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { dialectOf } from '../../dialects/lane.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { excludesShared, hasSharedAccess } from './access.ts';
import type { Access } from './candidate.ts';
import { declarationOf, hasZeroRetention, retainsNothing } from './data-policy.ts';
import type { Needs } from './needs.ts';
import type { Preferences, PriceLimit } from './preferences.ts';
import { isNamedIn, isNamedInFull } from './provider-names.ts';

export interface FilterSubject {
  readonly model: Model;
  readonly endpoint: Endpoint;
  readonly access: Access;
  /** All BYOK credentials that the caller may use. */
  readonly byok: readonly ByokCredential[];
}

/** A rule applied to one request. */
export interface Filter {
  readonly name: string;
  rejects(subject: FilterSubject): boolean;
  /** The reason for a subject that it rejects. */
  reason(subject: FilterSubject): string;
}

/** A rule: returns its filter for a request; undefined if it does not apply. */
type Rule = (preferences: Preferences, needs: Needs) => Filter | undefined;

/** Name of the filter for checks of calls by the upstream. */
export const SAFEGUARDS_FILTER = 'safeguards';

const CREDENTIALS: Filter = {
  name: 'credentials',
  rejects: ({ endpoint, access }) => access.kind === 'shared' && !hasSharedAccess(endpoint),
  reason: () => 'the gateway has no credential for it',
};

const DATA_COLLECTION: Filter = {
  name: 'data_collection',
  rejects: ({ endpoint }) => !retainsNothing(endpoint),
  reason: () => 'may train on or retain prompts',
};

const ZERO_RETENTION: Filter = {
  name: 'zdr',
  rejects: ({ endpoint, access }) => !hasZeroRetention(endpoint, access),
  reason: ({ access }) =>
    declarationOf(access) === false
      ? 'the BYOK credential is declared to retain prompts'
      : 'not known to retain nothing',
};

const DISTILLABLE: Filter = {
  name: 'enforce_distillable_text',
  rejects: ({ model }) => !model.distillable,
  reason: () => 'the model does not allow distillation',
};

const BYOK: Filter = {
  name: 'byok',
  rejects: ({ endpoint, model, access, byok }) =>
    access.kind === 'shared' && excludesShared(endpoint, model, byok),
  reason: () => 'a BYOK credential is to be used for this provider',
};

/** Vectors of another length are of no use: the parameter is never dropped. */
const DIMENSIONS: Filter = {
  name: 'dimensions',
  rejects: ({ endpoint }) => endpoint.supportedParameters?.has('dimensions') === false,
  reason: () => 'does not let the length of vectors be chosen',
};

const TOKEN_IDS: Filter = {
  name: 'token_ids',
  rejects: ({ endpoint }) => !takesTokenIds(endpoint),
  reason: () => 'takes texts only, no token ids',
};

/** A client that asks for safety checks relies on them: they are never dropped. */
const SAFEGUARDS: Filter = {
  name: SAFEGUARDS_FILTER,
  rejects: ({ endpoint: { provider } }) =>
    provider.dialect === 'simulator' || DIALECTS[provider.dialect].facts?.takesSafeguards !== true,
  reason: () => 'cannot check calls',
};

/** The rules of a request, in the order of evaluation. */
const RULES: readonly Rule[] = [
  ({ only }) =>
    only && {
      name: 'only',
      rejects: ({ endpoint }) => !isNamedIn(only, endpoint),
      reason: () => 'not in provider.only',
    },
  ({ ignore }) =>
    ignore.size === 0
      ? undefined
      : {
          name: 'ignore',
          rejects: ({ endpoint }) => isNamedIn(ignore, endpoint),
          reason: () => 'in provider.ignore',
        },
  ({ endpoints }) =>
    endpoints && {
      name: 'native_search',
      rejects: ({ endpoint }) => !isNamedInFull(endpoints, endpoint),
      reason: () => 'does not search by itself, or in other words than the first that does',
    },
  ({ deniesDataCollection }) => (deniesDataCollection ? DATA_COLLECTION : undefined),
  ({ requiresZeroRetention }) => (requiresZeroRetention ? ZERO_RETENTION : undefined),
  ({ requiresDistillable }) => (requiresDistillable ? DISTILLABLE : undefined),
  ({ quantizations }) =>
    quantizations && {
      name: 'quantizations',
      rejects: ({ endpoint }) => !quantizations.has(quantizationOf(endpoint)),
      reason: ({ endpoint }) => `quantization is ${quantizationOf(endpoint)}`,
    },
  (_, needs) => {
    const { promptTokens } = needs;
    return promptTokens === undefined
      ? undefined
      : {
          name: 'context_length',
          rejects: ({ endpoint }) =>
            endpoint.contextLength !== undefined &&
            promptTokens + outputWithin(endpoint, needs) > endpoint.contextLength,
          reason: ({ endpoint }) => tooLong(promptTokens, outputWithin(endpoint, needs), endpoint),
        };
  },
  (_, { requestedOutputTokens, minOutputTokens = requestedOutputTokens }) =>
    minOutputTokens === undefined
      ? undefined
      : {
          name: 'max_output_tokens',
          rejects: ({ endpoint }) => exceeds(minOutputTokens, endpoint.maxOutputTokens),
          reason: ({ endpoint }) =>
            `writes at most ${endpoint.maxOutputTokens} tokens, ${requestedOutputTokens} are asked for`,
        },
  (_, { inputModalities }) => allOf(inputModalities, INPUT),
  (_, { outputModalities }) => allOf(outputModalities, OUTPUT),
  (_, { parameters }) => (parameters.has('dimensions') ? DIMENSIONS : undefined),
  (_, { safeguards }) => (safeguards === true ? SAFEGUARDS : undefined),
  (_, { tokenIds }) => (tokenIds === true ? TOKEN_IDS : undefined),
  ({ requiresParameters }, { parameters }) =>
    requiresParameters
      ? {
          name: 'require_parameters',
          rejects: ({ endpoint }) => lackingParameters(endpoint, parameters).length > 0,
          reason: ({ endpoint }) => `does not support ${lackingParameters(endpoint, parameters).join(', ')}`,
        }
      : undefined,
  ({ priceLimits }) =>
    priceLimits.length === 0
      ? undefined
      : {
          name: 'max_price',
          rejects: ({ endpoint }) => exceeded(priceLimits, endpoint) !== undefined,
          reason: ({ endpoint }) => `${exceeded(priceLimits, endpoint)?.name} price is above the limit`,
        },
  () => BYOK,
];

/**
 * The filters of a request, after those of the caller. Rules that compare the endpoints of a model are in
 * `narrow-to-*.ts`.
 */
export function filtersOf(
  preferences: Preferences,
  needs: Needs,
  callerRules: readonly Filter[],
): readonly Filter[] {
  const filters: Filter[] = [CREDENTIALS, ...callerRules];
  for (const rule of RULES) {
    const filter = rule(preferences, needs);
    if (filter !== undefined) filters.push(filter);
  }
  return filters;
}

/** The first filter that rejects a candidate; undefined = none. */
export function rejectingFilter(filters: readonly Filter[], subject: FilterSubject): Filter | undefined {
  for (const filter of filters) if (filter.rejects(subject)) return filter;
  return undefined;
}

/** Modalities that an endpoint offers, of which it must have all that a request needs. */
interface Offer {
  readonly name: string;
  readonly offered: (subject: FilterSubject) => readonly string[];
  readonly words: (lacking: readonly string[]) => string;
}

const INPUT: Offer = {
  name: 'input_modalities',
  offered: ({ endpoint, model }) => endpoint.inputModalities ?? model.inputModalities,
  words: (lacking) => `takes no ${lacking.join(' or ')} input`,
};

const OUTPUT: Offer = {
  name: 'output_modalities',
  offered: ({ model }) => model.outputModalities,
  words: (lacking) => `makes no ${lacking.join(' or ')} output`,
};

/** The filter that rejects an endpoint unless it offers all of `needed`. */
function allOf(needed: ReadonlySet<string>, { name, offered, words }: Offer): Filter | undefined {
  if (needed.size === 0) return undefined;
  const all = [...needed];
  const lackingIn = (subject: FilterSubject) => {
    const there = offered(subject);
    return all.filter((each) => !there.includes(each));
  };
  return {
    name,
    rejects: (subject) => {
      const there = offered(subject);
      return all.some((each) => !there.includes(each));
    },
    reason: (subject) => words(lackingIn(subject)),
  };
}

/** The first price limit that an endpoint exceeds. */
function exceeded(limits: readonly PriceLimit[], { pricing }: Endpoint): PriceLimit | undefined {
  return limits.find(({ name, most }) => (pricing[name] ?? 0n) > most);
}

function takesTokenIds({ provider }: Endpoint): boolean {
  return DIALECTS[dialectOf(provider, 'embeddings')].upstream.embeddings?.takesTokenIds === true;
}

function quantizationOf({ quantization }: Endpoint): string {
  return quantization ?? 'unknown';
}

function lackingParameters({ supportedParameters }: Endpoint, parameters: ReadonlySet<string>): string[] {
  return supportedParameters === undefined
    ? []
    : [...parameters].filter((name) => !supportedParameters.has(name));
}

/** The output limit that an endpoint will get, tokens; 0 = the request has none. */
export function outputWithin(
  endpoint: Endpoint,
  { requestedOutputTokens: asked }: { readonly requestedOutputTokens?: number | undefined },
): number {
  return asked === undefined ? 0 : (outputLimitAt(endpoint, asked) ?? 0);
}

function tooLong(promptTokens: number, outputTokens: number, { contextLength }: Endpoint): string {
  const output = outputTokens > 0 ? `, ${outputTokens} of output are asked for` : '';
  return `the prompt is about ${promptTokens} tokens long${output}, the context holds ${contextLength}`;
}
