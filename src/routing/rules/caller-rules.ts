import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { Filter, FilterSubject } from './filters.ts';
import { guardrailFilters, modelNames, namedEntries, outsideModels } from './guardrail-rules.ts';

/** The part of a caller that says which endpoints may serve it. */
type RuledCaller = Pick<Caller, 'guardrails'> & {
  readonly key: Pick<Caller['key'], 'name' | 'allowedModels'>;
};

const KNOWN = new WeakMap<RuledCaller, readonly Filter[]>();

/** The filters by the models of a caller's key, then by its guardrails; made once for a cached caller. */
export function callerFilters(caller: RuledCaller): readonly Filter[] {
  const { key, guardrails } = caller;
  if (key.allowedModels === null) return guardrailFilters(guardrails);
  const known = KNOWN.get(caller);
  if (known !== undefined) return known;
  const filters = [filterOfKey(key.allowedModels), ...guardrailFilters(guardrails)];
  KNOWN.set(caller, filters);
  return filters;
}

function filterOfKey(allowedModels: readonly string[]): Filter {
  const reason = `the key allows only ${namedEntries(allowedModels)}`;
  return { name: 'allowed_models', rejects: outsideModels(allowedModels), reason: () => reason };
}

/** True if a caller may use a model at all; of one with endpoints, at least one of them. */
export function isModelAllowed(
  model: Model,
  caller: RuledCaller,
  accessesOf: (endpoint: Endpoint) => readonly FilterSubject['access'][],
): boolean {
  const filters = callerFilters(caller);
  if (filters.length === 0) return true;
  if (model.endpoints.length === 0) return !isListedOut(model, caller);
  return model.endpoints.some((endpoint) =>
    accessesOf(endpoint).some((access) =>
      filters.every((filter) => !filter.rejects({ model, endpoint, access, byok: [] })),
    ),
  );
}

function isListedOut(model: Model, { key, guardrails }: RuledCaller): boolean {
  const names = modelNames(model).filter((name) => name !== undefined);
  const holds = (list: readonly string[] | null) => list?.some((name) => names.includes(name));
  return (
    holds(key.allowedModels) === false ||
    guardrails.some(
      ({ guardrail: { allowedModels, ignoredModels } }) =>
        holds(allowedModels) === false || holds(ignoredModels) === true,
    )
  );
}
