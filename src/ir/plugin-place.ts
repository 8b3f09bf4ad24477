import type { Json, JsonObject } from '../kit/json/json.ts';
import type { GenerationRequest } from './request.ts';

/** The path of a plugin in the caller's body, which may also list disabled plugins: `plugins[0]`. */
export function pluginPlace({ body, wishes }: GenerationRequest, plugin: JsonObject): string {
  const list: readonly Json[] = Array.isArray(body.plugins) ? body.plugins : wishes.plugins;
  return `plugins[${list.indexOf(plugin)}]`;
}
