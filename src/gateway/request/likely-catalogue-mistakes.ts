import { buildProvider } from '../../catalog/build-provider.ts';
import { hasCredential, switchingVariables } from '../../catalog/providers/missing-credential.ts';
import { hasOwnAddress } from '../../catalog/providers/own-address.ts';
import { rowOf } from '../../catalog/providers/provider-rows.ts';
import { shippedModels } from '../../catalog/shipped-models.ts';
import { SIMULATOR_MODELS } from '../../catalog/simulator-catalog.ts';
import { parseLatest, ROUTER_NAMES, UNAVAILABLE_ROUTERS } from '../../catalog/virtual-ids.ts';
import type { Config } from '../../config/schema/schema.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { quoted } from '../../kit/text/quoted.ts';
import { parseModelId } from '../../routing/resolve/model-id.ts';

/** Warnings about providers, dialects and models that are valid in a configuration and almost surely a mistake. */
export function likelyCatalogueMistakes(config: Config): Issue[] {
  return [
    ...addressMistakes(config),
    ...credentialMistakes(config),
    ...providersWithoutModels(config),
    ...idleModels(config),
    ...unsuitableModels(config),
    ...unpricedSearches(config),
  ];
}

// --- Providers -------------------------------------------------------------------------------------------------------

/** Addresses that end in a path that the dialect appends itself. */
function addressMistakes({ providers }: Config): Issue[] {
  return providers.flatMap((entry, index): Issue[] => {
    const { dialect } = buildProvider(entry);
    if (!entry.base_url || dialect === 'simulator') return [];
    const ending = ownPathIn(new URL(entry.base_url).pathname.replace(/\/+$/, ''), (stream) =>
      DIALECTS[dialect].upstream.path(MODEL, stream),
    );
    if (ending === undefined) return [];
    const message = `ends in ${ending}, which the dialect puts behind it: leave that out`;
    return [{ path: `providers[${index}].base_url`, message }];
  });
}

/** Placeholder for the model in a dialect's path. */
const MODEL = 'MODEL';

/** The end of an address that is a dialect's own path, with a model in it or cut before the model. */
function ownPathIn(address: string, pathOf: (stream: boolean) => string): string | undefined {
  for (const stream of [false, true]) {
    const [path = ''] = pathOf(stream).split('?');
    const [before = '', after] = path.split(MODEL);
    if (after === undefined) {
      if (address.endsWith(path)) return path;
      continue;
    }
    const folder = before.replace(/\/+$/, '');
    const at = address.lastIndexOf(before);
    const isWhole = at >= 0 && address.endsWith(after) && !address.slice(at + before.length).includes('/');
    if (isWhole) return address.slice(at);
    if (address.endsWith(folder)) return folder;
  }
  return undefined;
}

/** Listed providers that are called without any credential. */
function credentialMistakes({ providers }: Config): Issue[] {
  return providers.flatMap((entry, index): Issue[] => {
    if (hasCredential(entry)) return [];
    const names = switchingVariables(entry.slug) ?? [];
    const variable = names.length === 0 || entry.base_url ? '' : ` or set ${names.join(' and ')}`;
    const message = `has no credential, so calls will be refused: give it an api_key${variable}`;
    return [{ path: `providers[${index}]`, message }];
  });
}

/** Listed providers at an own address that no endpoint of the file names: the shipped models do not apply there. */
function providersWithoutModels({ providers, models }: Config): Issue[] {
  const named = new Set(models.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)));
  return providers.flatMap((entry, index): Issue[] => {
    if (named.has(entry.slug) || !hasOwnAddress(buildProvider(entry))) return [];
    const reason = rowOf(entry.slug) ? ' (at an address of your own the shipped ones do not apply)' : '';
    const message = `serves no model: list its models under models, each with an endpoint at ${entry.slug}${reason}`;
    return [{ path: `providers[${index}]`, message }];
  });
}

// --- Models ----------------------------------------------------------------------------------------------------------

/** Models whose endpoints are all at providers without a credential. A listed provider has a warning of its own. */
function idleModels({ models, providers }: Config): Issue[] {
  const listed = new Set(providers.map(({ slug }) => slug));
  const on = new Map(providers.map((entry) => [entry.slug, hasCredential(entry)]));
  return models.flatMap(({ endpoints }, index): Issue[] => {
    const slugs = [...new Set(endpoints.map(({ provider }) => provider))];
    for (const slug of slugs) if (!on.has(slug)) on.set(slug, hasCredential({ slug }));
    if (slugs.some((slug) => on.get(slug)) || slugs.every((slug) => listed.has(slug))) return [];
    const variables = [...new Set(slugs.flatMap((slug) => switchingVariables(slug)?.join(' and ') ?? []))];
    const remedy = variables.length === 0 ? 'give it an api_key' : `set ${variables.join(' or ')}`;
    const message = `no endpoint is on: ${slugs.join(', ')} ${slugs.length === 1 ? 'has' : 'have'} no credential`;
    return [{ path: `models[${index}].endpoints`, message: `${message}: ${remedy}` }];
  });
}

/** Members that name a model which neither the file nor the shipped catalogue has, or one that cannot do their work. */
function unsuitableModels(config: Config): Issue[] {
  const named = namedModels(config);
  if (named.length === 0) return [];
  const known = knownModels(config, named);
  return named.flatMap(({ path, id, output }): Issue[] => {
    const { base } = parseModelId(id);
    const outputs = known.get(id) ?? known.get(base);
    if (outputs !== undefined) {
      if (output === undefined || outputs.includes(output)) return [];
      return [
        { path, message: `is a model without ${output} output (output_modalities): name one that has it` },
      ];
    }
    if (parseLatest(base) !== undefined || id.startsWith('@')) return [];
    const meant = nearestWord(base, known.keys());
    const suggestion = meant === undefined ? '' : `; did you mean ${quoted(meant)}?`;
    return [{ path, message: `is a model that neither the file nor the shipped catalogue has${suggestion}` }];
  });
}

/** Endpoints that search by themselves, and have no price for it: keys with a limit get no search there. */
function unpricedSearches({ models, providers }: Config): Issue[] {
  const entries = new Map(providers.map((entry) => [entry.slug, entry]));
  return models.flatMap(({ endpoints, output_modalities: outputs }, index): Issue[] =>
    endpoints.flatMap(({ provider, pricing, prices, unpriced }, at): Issue[] => {
      const entry = entries.get(provider);
      const isAllowed = (unpriced ?? entry?.unpriced) === 'allow';
      // Without prices of its own the endpoint has those of the shipped catalogue, if there are some.
      const isOwn = pricing !== undefined && pricing !== null;
      if (
        isAllowed ||
        outputs?.includes('embeddings') ||
        (!isOwn && (entry === undefined || !hasOwnAddress(buildProvider(entry))))
      )
        return [];
      const { dialect } = buildProvider(entry ?? { slug: provider });
      if (dialect === 'simulator' || DIALECTS[dialect].upstream.hosted?.native === undefined) return [];
      const lists = [pricing, ...(prices ?? []).map((dated) => dated.pricing)];
      if (lists.some((list) => list?.web_search)) return [];
      const message =
        'has no web_search price although the upstream searches by itself: keys with a limit get no search there. ' +
        'Write the price of a search, or "0", or unpriced: allow';
      return [{ path: `models[${index}].endpoints[${at}].pricing`, message }];
    }),
  );
}

interface NamedModel {
  readonly path: string;
  readonly id: string;
  /** What the model must be able to answer with; absent: anything. */
  readonly output?: 'image';
}

function namedModels({ presets, workspaces, tools }: Config): NamedModel[] {
  const imageModel = tools.image_generation?.model;
  return [
    ...Object.entries(presets).flatMap(([slug, preset]) => modelsIn(preset, `presets.${slug}`)),
    ...workspaces.flatMap(({ default_text_model: id, classifiers }, index) => [
      ...(id ? [{ path: `workspaces[${index}].default_text_model`, id }] : []),
      ...(classifiers ?? []).map(({ model }, at) => ({
        path: `workspaces[${index}].classifiers[${at}].model`,
        id: model,
      })),
    ]),
    ...(imageModel
      ? [{ path: 'tools.image_generation.model', id: imageModel, output: 'image' as const }]
      : []),
  ];
}

const TEXT_ONLY = ['text'];

/** What each model can answer with, by id and alias: models of the file, shipped ones, the simulator's, routers. */
function knownModels(
  { models, providers, vendor }: Config,
  named: readonly NamedModel[],
): ReadonlyMap<string, readonly string[]> {
  const routers = [...ROUTER_NAMES, ...UNAVAILABLE_ROUTERS].map((name) => ({
    id: `${vendor}/${name}`,
  }));
  const shipped = shippedModels(
    providers.map(({ slug }) => slug),
    named.map(({ id }) => parseModelId(id).base),
  );
  const own = models.map((model) => ({
    ...model,
    output_modalities: model.output_modalities ?? shipped.get(model.id)?.output_modalities,
  }));
  const known = new Map<string, readonly string[]>();
  const entries: readonly KnownOutput[] = [...routers, ...shipped.values(), ...SIMULATOR_MODELS, ...own];
  for (const { id, aliases, output_modalities: outputs } of entries)
    for (const name of [id, ...(aliases ?? [])]) known.set(name, outputs ?? TEXT_ONLY);
  return known;
}

interface KnownOutput {
  readonly id: string;
  readonly aliases?: readonly string[] | null | undefined;
  readonly output_modalities?: readonly string[] | null | undefined;
}

function modelsIn(
  preset: Config['presets'][string],
  path: string,
): { readonly path: string; readonly id: string }[] {
  const { model, models } = preset;
  return [
    ...(typeof model === 'string' ? [{ path: `${path}.model`, id: model }] : []),
    ...(Array.isArray(models) ? models : []).flatMap((id: unknown, index) =>
      typeof id === 'string' ? [{ path: `${path}.models[${index}]`, id }] : [],
    ),
  ];
}
