import { isDeepStrictEqual } from 'node:util';
import Type from 'typebox';
import { endpointTag, modelId } from '../config/catalog-members.ts';
import { readJson } from '../kit/json.ts';
import { closed } from '../kit/schema.ts';
import { compileValidator } from '../kit/validate.ts';
import { type CatalogDocument, catalogDocumentSchema } from './catalog-document.ts';
import { type KnownModel, type KnownModels, modelsOf } from './known-model.ts';
import { mergeModels } from './merge-models.ts';

/** What an operator brought in, over what ships. */
export interface Overlay {
  /** Only what differs from what ships. */
  readonly models: readonly KnownModel[];
  readonly removed: readonly Removal[];
}

/** An endpoint that ships and is gone: it comes back with younger data. */
export interface Removal {
  readonly id: string;
  readonly tag: string;
  readonly as_of: string;
}

export const NO_OVERLAY: Overlay = { models: [], removed: [] };

const overlaySchema = closed({
  ...catalogDocumentSchema.properties,
  removed: Type.Array(closed({ id: modelId, tag: endpointTag, as_of: Type.String() })),
});

const validator = compileValidator(overlaySchema);

/** Reads a stored overlay; the problem completes a sentence that begins with the name of the file. */
export function parseOverlay(
  text: string,
): { readonly ok: true; readonly overlay: Overlay } | { readonly ok: false; readonly problem: string } {
  const reading = readJson(text);
  if (!reading.ok) return { ok: false, problem: `is ${reading.problem}` };
  const [issue] = validator.issuesOf(reading.value);
  if (issue !== undefined) {
    return { ok: false, problem: `is not a stored catalogue: ${issue.path} ${issue.message}` };
  }
  const document = reading.value as unknown as CatalogDocument & Pick<Overlay, 'removed'>;
  return { ok: true, overlay: { models: modelsOf(document), removed: document.removed } };
}

/** Writes an overlay as it is stored. */
export function renderOverlay({ models, removed }: Overlay, asOf: string): string {
  return `${JSON.stringify({ as_of: asOf, source: 'signalbox catalog refresh', models, removed }, null, 1)}\n`;
}

/** What is known all in all. */
export function applyOverlay(shipped: KnownModels, { models, removed }: Overlay): KnownModels {
  const gone = new Map(removed.map(({ id, tag, as_of }) => [`${id} ${tag}`, as_of]));
  const kept = [...shipped.values()].map((model) => ({
    ...model,
    endpoints: model.endpoints.filter(({ tag, as_of }) => as_of > (gone.get(`${model.id} ${tag}`) ?? '')),
  }));
  const merged = mergeModels(new Map(kept.map((model) => [model.id, model])), models);
  return new Map([...merged].filter(([, { endpoints }]) => endpoints.length > 0));
}

/** The overlay that makes `wanted` of what ships. `asOf`: the day of the data that left out what is gone. */
export function overlayBetween(
  shipped: KnownModels,
  wanted: KnownModels,
  before: Overlay,
  asOf: string,
): Overlay {
  const removedBefore = new Map(before.removed.map((removal) => [`${removal.id} ${removal.tag}`, removal]));
  return {
    models: [...wanted.values()].flatMap((model) => {
      const changed = difference(shipped.get(model.id), model);
      return changed === undefined ? [] : [changed];
    }),
    removed: [...shipped.values()].flatMap(({ id, endpoints }) => {
      const left = new Set(wanted.get(id)?.endpoints.map(({ tag }) => tag));
      return endpoints
        .filter(({ tag }) => !left.has(tag))
        .map(({ tag }) => removedBefore.get(`${id} ${tag}`) ?? { id, tag, as_of: asOf });
    }),
  };
}

function difference(shipped: KnownModel | undefined, wanted: KnownModel): KnownModel | undefined {
  if (shipped === undefined) return wanted;
  const { endpoints: shippedEndpoints, ...shippedFacts } = shipped;
  const { endpoints, ...facts } = wanted;
  const changed = endpoints.filter(
    (endpoint) => !shippedEndpoints.some((other) => isDeepStrictEqual(endpoint, other)),
  );
  if (!isDeepStrictEqual(facts, shippedFacts)) return { ...facts, endpoints: changed };
  const { id, as_of, source } = facts;
  return changed.length === 0 ? undefined : { id, as_of, source, endpoints: changed };
}
