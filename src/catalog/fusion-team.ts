import type { JsonObject } from '../kit/json/json.ts';
import { stringAt, stringsAt } from '../kit/json/members.ts';
import type { Catalog, Model } from './catalog.ts';

/** The plugin, the server tool and the model id of fusion: several models answer, a judge compares their answers. */
export const FUSION = 'fusion';

export const FUSION_PRESETS = ['general-high', 'general-budget', 'general-fast'] as const;

export type FusionPreset = (typeof FUSION_PRESETS)[number];

/** Names of models after the vendor prefix that stand for fusion, with the preset of each. */
export const FUSION_MODELS: ReadonlyMap<string, FusionPreset | undefined> = new Map([
  [FUSION, undefined],
  ['fusion-flash', 'general-fast'],
]);

/** The part of a fusion model's id after the vendor, without suffixes; undefined = it is another model. */
export function fusionNameOf(id: string, vendor: string): string | undefined {
  if (!id.startsWith(`${vendor}/${FUSION}`)) return undefined;
  const [name = ''] = id.slice(vendor.length + 1).split(':', 1);
  return FUSION_MODELS.has(name) ? name : undefined;
}

export function isFusionModel(id: string, vendor: string): boolean {
  return fusionNameOf(id, vendor) !== undefined;
}

export interface FusionTeam {
  /** Models that answer; empty = the catalogue has none. */
  readonly panel: readonly string[];
  readonly judge: string;
}

/** A team of the configuration; what it leaves out is chosen from the catalogue. */
export interface ConfiguredTeam {
  readonly panel: readonly string[] | undefined;
  readonly judge: string | undefined;
}

export interface FusionSettings extends ConfiguredTeam {
  readonly presets: Partial<Record<FusionPreset, ConfiguredTeam>>;
}

export const NO_TEAMS: FusionSettings = { panel: undefined, judge: undefined, presets: {} };

/**
 * The team of a request: its own `analysis_models` and `model`, else those of its preset, else those of the
 * configuration, else a choice from the catalogue. Without any judge the first of the panel judges.
 */
export function fusionTeam(wish: JsonObject, settings: FusionSettings, catalog: Catalog): FusionTeam {
  const preset = FUSION_PRESETS.find((name) => name === wish.preset);
  const configured = preset === undefined ? settings : settings.presets[preset];
  const panel =
    stringsAt(wish, 'analysis_models') ??
    configured?.panel ??
    CHOICES[preset ?? 'general-high'](answering(catalog)).map(({ id }) => id);
  return { panel, judge: stringAt(wish, 'model') ?? configured?.judge ?? panel[0] ?? '' };
}

const PANEL_SIZE = 3;
const FAST_PANEL_SIZE = 2;

/** The panel of each preset if the configuration has none. */
const CHOICES: Readonly<Record<FusionPreset, (models: readonly Model[]) => readonly Model[]>> = {
  'general-high': (models) => ofDifferentAuthors(models.toSorted(byQuality), PANEL_SIZE),
  // The cheapest of the better half.
  'general-budget': (models) => {
    const better = models.toSorted(byQuality).slice(0, Math.ceil(models.length / 2));
    return ofDifferentAuthors(better.toSorted(byPrice), PANEL_SIZE);
  },
  // Small models are the cheap ones: the catalogue knows no speeds.
  'general-fast': (models) => ofDifferentAuthors(models.toSorted(byPrice), FAST_PANEL_SIZE),
};

/** Models that write nothing but text and that the gateway can call; those with a known quality if there are any. */
function answering({ models }: Catalog): readonly Model[] {
  const able = models.filter(
    ({ outputModalities, endpoints }) =>
      outputModalities.every((modality) => modality === 'text') &&
      endpoints.some(({ provider }) => provider.isDormant !== true),
  );
  const known = able.filter(({ quality }) => quality.general !== undefined);
  return known.length > 0 ? known : able;
}

function byQuality(one: Model, other: Model): number {
  return (other.quality.general ?? 0) - (one.quality.general ?? 0);
}

function byPrice(one: Model, other: Model): number {
  return priceOf(one) - priceOf(other);
}

/** The lowest price of a written token. */
function priceOf({ endpoints }: Model): number {
  return Math.min(...endpoints.map(({ pricing }) => Number(pricing.completion ?? 0n)));
}

/** The first models of different authors, then the first of the others. */
function ofDifferentAuthors(models: readonly Model[], most: number): readonly Model[] {
  const authors = new Set<string>();
  const firsts = models.filter(({ id }) => {
    const author = id.split('/', 1)[0] ?? '';
    return !authors.has(author) && authors.add(author);
  });
  return [...firsts, ...models.filter((model) => !firsts.includes(model))].slice(0, most);
}
