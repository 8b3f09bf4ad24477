import type { TranslationEntry } from '../../ir/metadata.ts';
import { pluginIn, pluginPlace } from '../../ir/plugins.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';

/** The settings of a plugin in a request, and their path: `plugins[0]`. */
export interface PluginSettings {
  readonly values: JsonObject;
  readonly place: string;
}

const NONE: PluginSettings = { values: {}, place: 'plugins' };

/** The settings of the first enabled plugin with this id. */
export function pluginSettings(request: GenerationRequest, id: string | undefined): PluginSettings {
  const values = pluginIn(request, id);
  return values === undefined ? NONE : { values, place: pluginPlace(request, values) };
}

/** Report entries for settings in `names` that are given but overruled by another. */
export function overruled(
  { values, place }: PluginSettings,
  names: readonly string[],
  by: string,
): TranslationEntry[] {
  return names
    .filter((name) => (values[name] ?? null) !== null)
    .map((name) => ({ field: `${place}.${name}`, action: 'dropped', detail: `${by} wins over it` }));
}
