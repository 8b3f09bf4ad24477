import { nearestWord } from '../../kit/text/nearest-word.ts';
import { shortened } from '../../kit/text/quoted.ts';
import type { Catalog } from '../catalog.ts';
import { switchingVariables } from '../providers/missing-credential.ts';
import { hasOwnAddress, listModelStep } from '../providers/own-address.ts';
import { rowOf } from '../providers/provider-rows.ts';
import { allShippedModels } from '../shipped-models.ts';
import { SIMULATOR_MODELS } from '../simulator-catalog.ts';

type Named = { readonly id: string };

/** Models that are served, and the providers of the configuration. */
export type Served = {
  readonly models: readonly Named[];
  readonly providers: Catalog['providers'];
};

/** Providers that a hint names: more would not help. */
const MAX_NAMED_PROVIDERS = 3;

/** Ids that are compared letter by letter: a catalogue of 15,000 would take 50 ms of the event loop. */
const MAX_COMPARED_IDS = 500;

/** The catalogue knows ids of many kinds: of these only one that is close to the typed one is meant. */
const CHARACTERS_PER_MISTAKE = 5;

/**
 * The message for an id that no served model has, and what to do: switch on the simulator or a provider that is known
 * to serve it, list the model for a provider at an own address, or use the id of a model that looks alike. `base`:
 * without suffixes.
 */
export function unknownModelMessage(id: string, base: string, served: Served): string {
  const { models, providers } = served;
  const known = simulatorStep(base) ?? stepFor(base, providers);
  if (known !== undefined) return `${shortened(id)} has no provider yet: ${known}`;
  const hint = spellingHint(base, models) ?? shippedSpellingHint(base, providers);
  const message = `${shortened(id)} is not a valid model ID`;
  return hint === undefined ? message : `${message}. ${hint}`;
}

// --- Models that no provider serves here -----------------------------------------------------------------------------

function simulatorStep(id: string): string | undefined {
  if (!SIMULATOR_MODELS.some((model) => model.id === id)) return undefined;
  return (
    'the simulator is off, because the configuration file lists providers. ' +
    'Add "- slug: simulator" to them to switch it on.'
  );
}

/** The hint for an id that looks like one that the catalogue knows. */
function shippedSpellingHint(id: string, configured: Served['providers']): string | undefined {
  const ids = [...shippedProviders().keys()]
    .filter((known) => known.includes('/'))
    .map((known) => ({ id: known }));
  const meant = similarModelId(id, ids, CHARACTERS_PER_MISTAKE);
  const step = meant === undefined ? undefined : stepFor(meant, configured);
  return step && `Did you mean ${meant}? It has no provider yet: ${step}`;
}

/** The step that switches on a model of the catalogue. */
function stepFor(id: string, configured: Served['providers']): string | undefined {
  const providers = shippedProviders().get(id);
  if (providers === undefined) return undefined;
  const elsewhere = configured.find(
    (provider) => providers.includes(provider.slug) && hasOwnAddress(provider),
  );
  if (elsewhere !== undefined) return `${listModelStep(elsewhere.slug)}.`;
  const known = providers.slice(0, MAX_NAMED_PROVIDERS).map((slug) => {
    const variables = switchingVariables(slug);
    const name = rowOf(slug)?.name ?? slug;
    return variables === undefined
      ? `configure the provider ${name}`
      : `set ${variables.join(' and ')} (${name})`;
  });
  const setting = `${known.join(' or ')} and restart the gateway.`;
  // One that the file lists cannot be added: the file wins.
  const addable = providers.find((slug) => !configured.some((provider) => provider.slug === slug));
  if (addable === undefined) return setting;
  const name = rowOf(addable)?.name ?? addable;
  return (
    `add a key of ${name}, without a restart, under Providers in the console or by signalbox providers add ` +
    `${addable}; or ${setting}`
  );
}

/**
 * Slugs of the providers that are known to serve a model, its author first, by id and alias of the model. Read on first
 * use: 23 ms.
 */
let shipped: ReadonlyMap<string, readonly string[]> | undefined;

function shippedProviders(): ReadonlyMap<string, readonly string[]> {
  shipped ??= readShipped();
  return shipped;
}

function readShipped(): ReadonlyMap<string, readonly string[]> {
  const providers = new Map<string, readonly string[]>();
  for (const { id, aliases, endpoints } of allShippedModels().values()) {
    const author = id.split('/', 1)[0];
    const slugs = [...new Set(endpoints.map(({ provider }) => provider))].sort(
      (one, other) => Number(other === author) - Number(one === author),
    );
    for (const name of [id, ...(aliases ?? [])]) providers.set(name, slugs);
  }
  return providers;
}

// --- Misspelt ids ----------------------------------------------------------------------------------------------------

function spellingHint(id: string, served: readonly Named[]): string | undefined {
  const meant = similarModelId(id, served);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}

/**
 * The id that a misspelt one, or one without its author, most likely stands for. With more `charactersPerMistake` fewer
 * ids are close.
 */
export function similarModelId(
  id: string,
  models: readonly Named[],
  charactersPerMistake?: number,
): string | undefined {
  const ids = comparableIds(id, models);
  return (
    withAuthor(id, models) ??
    nearestWord(id, ids, charactersPerMistake) ??
    nearestWithAuthor(id, ids, charactersPerMistake)
  );
}

/** The id whose part behind the author is nearest to a name without one: `openai/gpt-5` for `gpt5`. */
function nearestWithAuthor(
  name: string,
  ids: readonly string[],
  charactersPerMistake?: number,
): string | undefined {
  if (name.includes('/')) return undefined;
  const meant = nearestWord(name, ids.map(behindAuthor), charactersPerMistake);
  return meant === undefined ? undefined : ids.find((id) => behindAuthor(id) === meant);
}

function behindAuthor(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/** The served id of a model that was named without its author: `openai/gpt-5` for `gpt-5`. */
function withAuthor(id: string, served: readonly Named[]): string | undefined {
  const ending = `/${id.toLowerCase()}`;
  return id.includes('/') ? undefined : served.find((model) => model.id.endsWith(ending))?.id;
}

/** Ids that begin like this one, before and behind the slash, come first. */
function comparableIds(id: string, served: readonly Named[]): string[] {
  const [author = '', slug = ''] = id.toLowerCase().split('/', 2);
  const ids = served.map((model) => model.id);
  const isAlike = (other: string) =>
    other.startsWith(author.slice(0, 2)) || other.includes(`/${slug.slice(0, 2)}`);
  return [...ids.filter(isAlike), ...ids.filter((other) => !isAlike(other))].slice(0, MAX_COMPARED_IDS);
}
