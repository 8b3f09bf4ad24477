import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { quoted } from '../../kit/text/quoted.ts';
import type {
  AppliedGuardrail,
  DataRegion,
  GuardrailSettings,
  ZdrFamily,
} from '../../ports/tenancy/guardrails.ts';
import { hasZeroRetention, mayTrain, retainsNothing } from './data-policy.ts';
import type { Filter, FilterSubject } from './filters.ts';

/** A rule of a guardrail: null or undefined if the guardrail does not set it. */
type GuardrailRule = (settings: GuardrailSettings) => Pick<Filter, 'rejects'> | null | undefined;

/** The rules by the member of a guardrail that sets them, in the order of evaluation. */
const RULES: Readonly<
  Record<
    string,
    {
      readonly rule: GuardrailRule;
      readonly words: string;
      /** What the rule lets through, for its words. */
      readonly allows?: (settings: GuardrailSettings) => readonly string[] | null;
    }
  >
> = {
  allowed_models: {
    rule: ({ allowedModels }) => allowedModels && { rejects: outsideModels(allowedModels) },
    words: 'the model is not in allowed_models',
    allows: ({ allowedModels }) => allowedModels,
  },
  ignored_models: {
    rule: ({ ignoredModels }) => ignoredModels && { rejects: inside(ignoredModels, namesOfModel) },
    words: 'the model is in ignored_models',
  },
  allowed_providers: {
    rule: ({ allowedProviders }) =>
      allowedProviders && { rejects: outside(allowedProviders, namesOfProvider) },
    words: 'the provider is not in allowed_providers',
    allows: ({ allowedProviders }) => allowedProviders,
  },
  ignored_providers: {
    rule: ({ ignoredProviders }) =>
      ignoredProviders && { rejects: inside(ignoredProviders, namesOfProvider) },
    words: 'the provider is in ignored_providers',
  },
  enforce_zdr: {
    rule: ({ enforceZdr }) =>
      Object.values(enforceZdr).includes(true)
        ? {
            rejects: ({ model, endpoint, access }) =>
              enforceZdr[familyOf(model.id)] === true && !hasZeroRetention(endpoint, access),
          }
        : undefined,
    words: 'not known to retain nothing, which enforce_zdr demands',
  },
  enable_paid_model_training: {
    rule: ({ enablePaidModelTraining }) =>
      unlessEnabled(enablePaidModelTraining, (endpoint) => !isFree(endpoint) && mayTrain(endpoint)),
    words: 'may train on prompts, which enable_paid_model_training forbids',
  },
  enable_free_model_training: {
    rule: ({ enableFreeModelTraining }) =>
      unlessEnabled(enableFreeModelTraining, (endpoint) => isFree(endpoint) && mayTrain(endpoint)),
    words: 'may train on prompts, which enable_free_model_training forbids',
  },
  enable_free_model_publication: {
    rule: ({ enableFreeModelPublication }) =>
      // What is not retained cannot be published; more is not known of providers.
      unlessEnabled(enableFreeModelPublication, (endpoint) => isFree(endpoint) && !retainsNothing(endpoint)),
    words: 'may publish prompts, which enable_free_model_publication forbids',
  },
  allowed_data_regions: {
    rule: ({ allowedDataRegions }) =>
      allowedDataRegions && {
        rejects: ({ endpoint }) => !allowedDataRegions.includes(dataRegionOf(endpoint)),
      },
    words: 'its region is not in allowed_data_regions',
    allows: ({ allowedDataRegions }) => allowedDataRegions,
  },
};

const NO_FILTERS: readonly Filter[] = [];

const KNOWN = new WeakMap<readonly AppliedGuardrail[], readonly Filter[]>();

/** The filters of the guardrails of a caller; made once for a cached caller. */
export function guardrailFilters(applied: readonly AppliedGuardrail[]): readonly Filter[] {
  if (applied.length === 0) return NO_FILTERS;
  const known = KNOWN.get(applied);
  if (known !== undefined) return known;
  const filters = applied.flatMap(filtersOfOne);
  KNOWN.set(applied, filters);
  return filters;
}

function filtersOfOne({ guardrail, scope }: AppliedGuardrail): Filter[] {
  return Object.entries(RULES).flatMap(([name, { rule, words, allows }]) => {
    const made = rule(guardrail);
    if (!made) return [];
    const reason = `${words} of the ${OWNERS[scope]} guardrail ${quoted(guardrail.name)}${allowing(allows?.(guardrail))}`;
    return [{ name, rejects: made.rejects, reason: () => reason }];
  });
}

/** Entries of a list that a reason names, at most. */
const MAX_NAMED_ENTRIES = 5;

function allowing(list: readonly string[] | null | undefined): string {
  if (!list) return '';
  return list.length === 0 ? ', which allows none' : `, which allows ${namedEntries(list)}`;
}

/** The first entries of a list, for a message. */
export function namedEntries(list: readonly string[]): string {
  const more = list.length - MAX_NAMED_ENTRIES;
  return `${list.slice(0, MAX_NAMED_ENTRIES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const OWNERS: Readonly<Record<AppliedGuardrail['scope'], string>> = {
  account: "account's",
  workspace: "workspace's",
  member: "member's",
  'api-key': "key's",
};

/**
 * True if a guardrail demands zero retention for one of the models that a request names. For a name without an author,
 * such as an alias, it is true if any family must have it.
 */
export function demandsZeroRetention(
  applied: readonly AppliedGuardrail[],
  models: readonly string[],
): boolean {
  return applied.some(({ guardrail: { enforceZdr } }) =>
    models.some((id) =>
      id.includes('/') ? enforceZdr[familyOf(id)] === true : Object.values(enforceZdr).includes(true),
    ),
  );
}

/** Families by the author in the id of a model. */
const FAMILIES: ReadonlyMap<string, ZdrFamily> = new Map([
  ['anthropic', 'anthropic'],
  ['openai', 'openai'],
  ['google', 'google'],
  ['x-ai', 'xai'],
  ['xai', 'xai'],
]);

function familyOf(modelId: string): ZdrFamily {
  const from = modelId.startsWith('~') ? 1 : 0;
  return FAMILIES.get(modelId.slice(from, Math.max(from, modelId.indexOf('/')))) ?? 'other';
}

/** Regions by the end of an endpoint's tag, such as `amazon-bedrock/eu`. */
const REGIONS: ReadonlyMap<string, DataRegion> = new Map([
  ['eu', 'europe'],
  ['europe', 'europe'],
  ['us', 'us'],
]);

/** `global` if nothing is known to keep prompts in one region. */
function dataRegionOf({ tag }: Endpoint): DataRegion {
  const [, ...variants] = tag.split('/');
  for (const variant of variants) {
    const region = REGIONS.get(variant.split('-')[0] ?? '');
    if (region !== undefined) return region;
  }
  return 'global';
}

function isFree({ pricing }: Endpoint): boolean {
  return Object.values(pricing).every((price) => price === 0n);
}

function unlessEnabled(
  enabled: boolean | null,
  concerns: (endpoint: Endpoint) => boolean,
): Pick<Filter, 'rejects'> | undefined {
  return enabled === false ? { rejects: ({ endpoint }) => concerns(endpoint) } : undefined;
}

type NamesOf = (subject: FilterSubject) => readonly (string | undefined)[];

/** Rejects models outside a list: canonical slugs, or any ids of models. */
export function outsideModels(list: readonly string[]): Filter['rejects'] {
  return outside(list, namesOfModel);
}

const namesOfModel: NamesOf = ({ model }) => modelNames(model);

const namesOfProvider: NamesOf = ({ endpoint }) => [endpoint.provider.slug];

export function modelNames({ id, canonicalSlug, aliases }: Model): readonly (string | undefined)[] {
  return [canonicalSlug, id, ...aliases];
}

function inside(list: readonly string[], namesOf: NamesOf): Filter['rejects'] {
  const names = new Set(list);
  return (subject) => namesOf(subject).some((name) => name !== undefined && names.has(name));
}

function outside(list: readonly string[], namesOf: NamesOf): Filter['rejects'] {
  const isInside = inside(list, namesOf);
  return (subject) => !isInside(subject);
}
