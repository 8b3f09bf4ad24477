import { isJsonObject, type Json, type JsonObject } from '../kit/json/json.ts';
import type { GenerationRequest } from './request.ts';

/** The settings of a plugin that a request asks for; undefined if it does not, or has it switched off. */
export function pluginIn(
  { wishes }: Pick<GenerationRequest, 'wishes'>,
  pluginId: string | undefined,
): JsonObject | undefined {
  return wishes.plugins.find(({ id }) => id === pluginId);
}

/** True if a request lists a plugin and has it switched off. */
export function isPluginOff({ body, wishes }: GenerationRequest, pluginId: string): boolean {
  if (!Array.isArray(body.plugins) || wishes.plugins.some(({ id }) => id === pluginId)) return false;
  return body.plugins.some((plugin) => isJsonObject(plugin) && plugin.id === pluginId);
}

/** The path of a plugin in the caller's body, which may also list disabled plugins: `plugins[0]`. */
export function pluginPlace({ body, wishes }: GenerationRequest, plugin: JsonObject): string {
  const list: readonly Json[] = Array.isArray(body.plugins) ? body.plugins : wishes.plugins;
  return `plugins[${list.indexOf(plugin)}]`;
}
