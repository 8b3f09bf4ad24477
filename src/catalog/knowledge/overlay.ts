import { isDeepStrictEqual } from 'node:util';
import Type from 'typebox';
import { day, endpointTag, modelId } from '../../config/schema/catalog-members.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { JsonReader } from '../../kit/json/json-reader.ts';
import type { JsonLimits } from '../../kit/json/json-scanner.ts';
import { closed } from '../../kit/json/schema.ts';
import { compileValidator, type Issue } from '../../kit/json/validate.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import { momentMs } from '../../kit/time/moment.ts';
import { type CatalogDocument, storedIssues } from './catalog-document.ts';
import { type KnownModel, type KnownModels, knownModelOf } from './known-model.ts';
import { mergeModelsSliced } from './merge-models.ts';

/** Imported data, stored as differences from the shipped data. */
export interface Overlay {
  /** Only entries that differ from the shipped ones. */
  readonly models: readonly KnownModel[];
  readonly removed: readonly Removal[];
}

/** A shipped endpoint that was pruned. Data newer than `as_of` restore it. */
export interface Removal {
  readonly id: string;
  readonly tag: string;
  readonly as_of: string;
}

export const NO_OVERLAY: Overlay = { models: [], removed: [] };

/** A parsed overlay, or its problem: a clause to follow the file's name. */
export type OverlayReading =
  | { readonly ok: true; readonly overlay: Overlay }
  | { readonly ok: false; readonly problem: string };

/** Room for several documents of the largest size. */
const LIMITS: JsonLimits = { depth: 64, keys: 5_000, values: 1_000_000 };

const CHARACTERS_PER_SLICE = 64 * 1024;

const removals = compileValidator(
  closed({ removed: Type.Array(closed({ id: modelId, tag: endpointTag, as_of: day })) }),
);

export function* parseOverlay(text: string): Sliced<OverlayReading> {
  const reader = new JsonReader(LIMITS);
  for (let from = 0; from < text.length; from += CHARACTERS_PER_SLICE) {
    reader.push(text.slice(from, from + CHARACTERS_PER_SLICE));
    yield;
  }
  const reading = yield* reader.end();
  if (!reading.ok) {
    return { ok: false, problem: `cannot be read: ${`${reading.path} ${reading.problem}`.trim()}` };
  }
  const { removed, ...rest } = isJsonObject(reading.value) ? reading.value : {};
  const [issue] = [
    ...(yield* storedIssues(isJsonObject(reading.value) ? rest : reading.value)),
    ...removalIssues(removed),
  ];
  if (issue !== undefined) {
    return { ok: false, problem: `is not a stored catalogue: ${`${issue.path} ${issue.message}`.trim()}` };
  }
  const document = rest as unknown as CatalogDocument;
  const models: KnownModel[] = [];
  yield* forEachSliced(document.models, (model) => models.push(knownModelOf(model, document)));
  return { ok: true, overlay: { models, removed: removed as unknown as readonly Removal[] } };
}

function removalIssues(removed: unknown): Issue[] {
  const issues = removals.issuesOf({ removed });
  if (issues.length > 0) return issues;
  return (removed as readonly Removal[]).flatMap(({ as_of }, index) =>
    momentMs(as_of) === undefined
      ? [{ path: `removed[${index}].as_of`, message: 'is not in the calendar' }]
      : [],
  );
}

/** Renders an overlay for storage, one line per model. */
export function* renderOverlay({ models, removed }: Overlay, asOf: string): Sliced<string> {
  const origin = JSON.stringify({ as_of: asOf, source: 'signalbox catalog refresh' }).slice(0, -1);
  const [modelLines, removedLines] = [yield* linesOf(models), yield* linesOf(removed)];
  return `${origin},\n"models":${modelLines},\n"removed":${removedLines}}\n`;
}

function* linesOf(members: readonly object[]): Sliced<string> {
  const lines: string[] = [];
  yield* forEachSliced(members, (member) => lines.push(JSON.stringify(member)));
  return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`;
}

/** Applies an overlay to the shipped models; drops models without endpoints unless the overlay has them. */
export function* applyOverlay(shipped: KnownModels, { models, removed }: Overlay): Sliced<KnownModels> {
  const gone = new Map(removed.map(({ id, tag, as_of }) => [`${id} ${tag}`, as_of]));
  const kept = new Map<string, KnownModel>();
  yield* forEachSliced(shipped.values(), (model) => {
    const endpoints = model.endpoints.filter(
      ({ tag, as_of }) => as_of > (gone.get(`${model.id} ${tag}`) ?? ''),
    );
    kept.set(model.id, endpoints.length === model.endpoints.length ? model : { ...model, endpoints });
  });
  const merged = yield* mergeModelsSliced(kept, models);
  const inOverlay = new Set(models.map(({ id }) => id));
  yield* forEachSliced(kept.keys(), (id) => {
    if (merged.get(id)?.endpoints.length === 0 && !inOverlay.has(id)) merged.delete(id);
  });
  return merged;
}

/** The overlay that turns `shipped` into `wanted`. `asOf`: day of the data, for newly removed endpoints. */
export function* overlayBetween(
  shipped: KnownModels,
  wanted: KnownModels,
  before: Overlay,
  asOf: string,
): Sliced<Overlay> {
  const models: KnownModel[] = [];
  yield* forEachSliced(wanted.values(), (model) => {
    const changed = difference(shipped.get(model.id), model);
    if (changed !== undefined) models.push(changed);
  });
  const removedBefore = new Map(before.removed.map((removal) => [`${removal.id} ${removal.tag}`, removal]));
  const removed: Removal[] = [];
  yield* forEachSliced(shipped.values(), ({ id, endpoints }) => {
    const left = new Set(wanted.get(id)?.endpoints.map(({ tag }) => tag));
    for (const { tag } of endpoints) {
      if (left.has(tag)) continue;
      removed.push(removedBefore.get(`${id} ${tag}`) ?? { id, tag, as_of: asOf });
    }
  });
  return { models, removed };
}

function difference(shipped: KnownModel | undefined, wanted: KnownModel): KnownModel | undefined {
  if (shipped === undefined) return wanted;
  if (shipped === wanted) return undefined;
  const { endpoints: shippedEndpoints, ...shippedFacts } = shipped;
  const { endpoints, ...facts } = wanted;
  const changed = endpoints.filter(
    (endpoint) => !shippedEndpoints.some((other) => isDeepStrictEqual(endpoint, other)),
  );
  const isAllGone = endpoints.length === 0;
  if (isAllGone || !isDeepStrictEqual(facts, shippedFacts)) return { ...facts, endpoints: changed };
  const { id, as_of, source } = facts;
  return changed.length === 0 ? undefined : { id, as_of, source, endpoints: changed };
}
