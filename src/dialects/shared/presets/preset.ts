import { GatewayError, invalidRequest } from '../../../ir/errors.ts';
import type { TranslationEntry } from '../../../ir/metadata.ts';
import { lookUp } from '../../../kit/collections/lookup.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { objectsAt, stringAt, stringsAt } from '../../../kit/json/members.ts';
import type { Issue } from '../../../kit/json/validate.ts';
import { quoted } from '../../../kit/text/quoted.ts';
import type { PresetForm } from './preset-form.ts';
import { membersOf, putOf } from './preset-members.ts';

/** Presets by slug: fields of requests that the operator set beforehand. */
export type Presets = Readonly<Record<string, JsonObject>>;

/** Separates a model from a preset in `model`. */
const MARK = '@preset/';

interface Naming {
  readonly slug: string;
  readonly field: 'model' | 'preset';
  /** The model that is named with it; undefined = the preset's. */
  readonly model: string | undefined;
}

/**
 * Merges the preset that a request names (`model: "@preset/slug"`, `"model@preset/slug"` or `preset: "slug"`) into a
 * new body. The request's own fields win; tools are united. Throws 404 for an unknown preset.
 */
export function applyPreset(form: PresetForm, body: JsonObject, presets: Presets): JsonObject {
  const naming = namingOf(body);
  if (naming === undefined) {
    refuseMisplaced(body);
    return body;
  }
  const preset = lookUp(presets, naming.slug);
  if (preset === undefined) {
    throw new GatewayError('not-found', `${naming.field}: there is no preset ${quoted(naming.slug)}`);
  }
  const { model: _model, preset: _preset, ...own } = body;
  let merged: JsonObject = naming.model === undefined ? own : { model: naming.model, ...own };
  for (const { name, value } of membersOf(preset)) {
    merged = { ...merged, ...putOf(name, form)?.(value, merged) };
  }
  const model = merged.model ?? stringsAt(merged, 'models')?.[0];
  if (model === undefined) {
    throw invalidRequest([
      { path: 'model', message: `is required: the preset ${quoted(naming.slug)} names none` },
    ]);
  }
  refuseMisplaced(merged);
  return { ...merged, model };
}

export function presetReport(form: PresetForm, body: JsonObject, presets: Presets): TranslationEntry[] {
  const naming = namingOf(body);
  const preset = naming === undefined ? undefined : lookUp(presets, naming.slug);
  if (preset === undefined) return [];
  return membersOf(preset)
    .filter(({ name }) => putOf(name, form) === undefined)
    .map(({ name }) => ({
      field: `preset.${name}`,
      action: 'dropped',
      detail: `the ${form.format} format has no such field`,
    }));
}

/** The slug of the preset that a request names; undefined = none. */
export function presetSlugOf(body: JsonObject): string | undefined {
  return namingOf(body)?.slug;
}

function namingOf(body: JsonObject): Naming | undefined {
  const written = stringAt(body, 'model');
  const named = stringAt(body, 'preset');
  const mark = written?.indexOf(MARK) ?? -1;
  if (written === undefined || mark === -1) {
    return named === undefined ? undefined : { slug: named, field: 'preset', model: written };
  }
  const slug = written.slice(mark + MARK.length);
  if (named !== undefined && named !== slug) {
    throw invalidRequest([{ path: 'preset', message: 'must not differ from the preset that model names' }]);
  }
  return { slug, field: 'model', model: mark === 0 ? undefined : written.slice(0, mark) };
}

/** A request has one preset: neither the preset nor fallback models can name another. */
function refuseMisplaced(body: JsonObject): void {
  const isPlain = body.models === undefined && body.fallbacks === undefined;
  if (isPlain && stringAt(body, 'model')?.includes(MARK) !== true) return;
  const message = 'cannot name a preset: only the model and the preset of a request can';
  const issues: Issue[] = [
    { id: stringAt(body, 'model') ?? '', path: 'model' },
    ...(stringsAt(body, 'models') ?? []).map((id, index) => ({ id, path: `models[${index}]` })),
    ...objectsAt(body, 'fallbacks').map((entry, index) => ({
      id: stringAt(entry, 'model') ?? '',
      path: `fallbacks[${index}].model`,
    })),
  ]
    .filter(({ id }) => id.includes(MARK))
    .map(({ path }) => ({ path, message }));
  if (issues.length > 0) throw invalidRequest(issues);
}
