import { invalidRequest } from '../ir/errors.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { isJsonObject, type JsonObject } from '../kit/json.ts';
import { quoted } from '../kit/quoted.ts';
import type { Issue } from '../kit/validate.ts';
import { ROUTER_OF_PLUGIN } from '../routing/routers/routers.ts';

/**
 * Refuses what this gateway knows by name but cannot do: a plugin that is switched on, a tool that the gateway itself
 * would have to run. Nothing is silently ignored.
 */
export function refuseUnavailable(request: GenerationRequest, vendor: string): void {
  const issues = [...pluginIssues(request), ...toolIssues(request, vendor)];
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Plugins that do something; the others are known by name. */
const AVAILABLE_PLUGINS: ReadonlySet<string> = new Set(ROUTER_OF_PLUGIN.keys());

function pluginIssues(request: GenerationRequest): Issue[] {
  return membersOf(request.body.plugins).flatMap(({ value, index }) =>
    value.enabled === false || AVAILABLE_PLUGINS.has(String(value.id))
      ? []
      : [
          {
            path: `plugins[${index}].id`,
            message: `the plugin ${quoted(String(value.id))} is not available on this gateway`,
          },
        ],
  );
}

function toolIssues(request: GenerationRequest, vendor: string): Issue[] {
  return membersOf(request.body.tools).flatMap(({ value, index }) =>
    typeof value.type === 'string' && value.type.startsWith(`${vendor}:`)
      ? [
          {
            path: `tools[${index}].type`,
            message: `the tool ${quoted(value.type)} is not available on this gateway`,
          },
        ]
      : [],
  );
}

function membersOf(list: unknown): { value: JsonObject; index: number }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((value, index) => (isJsonObject(value) ? [{ value, index }] : []));
}
