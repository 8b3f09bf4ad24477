import { nearestWord } from '../../kit/text/nearest-word.ts';
import { shortened } from '../../kit/text/quoted.ts';
import type { Model } from '../catalog.ts';
import { rowOf } from '../providers/provider-rows.ts';
import type { KeySource } from '../providers/provider-table.ts';
import { allShippedModels } from '../shipped-models.ts';

/** Providers that a hint names: more would not help. */
const MAX_NAMED_PROVIDERS = 3;

/** Ids that are compared letter by letter: a catalogue of 15,000 would take 50 ms of the event loop. */
const MAX_COMPARED_IDS = 500;

/** The message for an id that no served model has, with what to do if that is known. `base`: without suffixes. */
export function unknownModelMessage(id: string, base: string, served: readonly Model[]): string {
  const hint = hintForUnknownModel(base, served);
  const message = `${shortened(id)} is not a valid model ID`;
  return hint === undefined ? message : `${message}. ${hint}`;
}

/**
 * What to do about an id that no served model has: switch on a provider that is known to serve it, or use the id of a
 * served model that looks alike. Undefined if neither is known.
 */
export function hintForUnknownModel(id: string, served: readonly Model[]): string | undefined {
  return switchOnHint(id) ?? spellingHint(id, served);
}

// --- Models that no provider serves here ------------------------------------------------------------------------------

function switchOnHint(id: string): string | undefined {
  const providers = shippedProviders().get(id);
  if (providers === undefined) return undefined;
  const author = id.split('/', 1)[0];
  const ownFirst = [
    ...providers.filter((slug) => slug === author),
    ...providers.filter((slug) => slug !== author),
  ];
  const known = ownFirst.slice(0, MAX_NAMED_PROVIDERS).map((slug) => {
    const row = rowOf(slug);
    const [first] = row?.keys ?? [];
    const name = row?.name ?? slug;
    return first === undefined ? `configure the provider ${name}` : `set ${variablesOf(first)} (${name})`;
  });
  return `The catalogue knows it, but no provider here serves it: ${known.join(' or ')} and restart the gateway.`;
}

function variablesOf(source: KeySource): string {
  return typeof source === 'string' ? source : Object.values(source).join(' and ');
}

/** Slugs of the providers that are known to serve a model, by id and alias of the model. Read on first use: 23 ms. */
let shipped: ReadonlyMap<string, readonly string[]> | undefined;

function shippedProviders(): ReadonlyMap<string, readonly string[]> {
  shipped ??= readShipped();
  return shipped;
}

function readShipped(): ReadonlyMap<string, readonly string[]> {
  const providers = new Map<string, readonly string[]>();
  for (const { id, aliases, endpoints } of allShippedModels().values()) {
    const slugs = [...new Set(endpoints.map(({ provider }) => provider))];
    for (const name of [id, ...(aliases ?? [])]) providers.set(name, slugs);
  }
  return providers;
}

// --- Misspelt ids -----------------------------------------------------------------------------------------------------

function spellingHint(id: string, served: readonly Model[]): string | undefined {
  const meant = withAuthor(id, served) ?? nearestWord(id, comparableIds(id, served));
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}

/** The served id of a model that was named without its author: `openai/gpt-5` for `gpt-5`. */
function withAuthor(id: string, served: readonly Model[]): string | undefined {
  const ending = `/${id.toLowerCase()}`;
  return id.includes('/') ? undefined : served.find((model) => model.id.endsWith(ending))?.id;
}

/** Ids that begin like this one, before and behind the slash, come first. */
function comparableIds(id: string, served: readonly Model[]): string[] {
  const [author = '', slug = ''] = id.toLowerCase().split('/', 2);
  const ids = served.map((model) => model.id);
  const isAlike = (other: string) =>
    other.startsWith(author.slice(0, 2)) || other.includes(`/${slug.slice(0, 2)}`);
  return [...ids.filter(isAlike), ...ids.filter((other) => !isAlike(other))].slice(0, MAX_COMPARED_IDS);
}
