import type { TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';

/** The settings of a plugin of a request, and where they stand: `plugins[0]`. */
export interface PluginSettings {
  readonly values: JsonObject;
  readonly place: string;
}

const NONE: PluginSettings = { values: {}, place: 'plugins' };

/** The first plugin of this id that is switched on. */
export function pluginSettings(request: GenerationRequest, id: string | undefined): PluginSettings {
  const values = request.wishes.plugins.find((plugin) => plugin.id === id);
  return values === undefined ? NONE : { values, place: pluginPlace(request, values) };
}

/** Where a plugin stands in the caller's body, in which there may be others that are switched off. */
export function pluginPlace({ body, wishes }: GenerationRequest, plugin: JsonObject): string {
  const list: readonly Json[] = Array.isArray(body.plugins) ? body.plugins : wishes.plugins;
  return `plugins[${list.indexOf(plugin)}]`;
}

/** Report entries for those of the named settings that are given and have no effect beside another. */
export function overruled(
  { values, place }: PluginSettings,
  names: readonly string[],
  by: string,
): TranslationEntry[] {
  return names
    .filter((name) => (values[name] ?? null) !== null)
    .map((name) => ({ field: `${place}.${name}`, action: 'dropped', detail: `${by} wins over it` }));
}
