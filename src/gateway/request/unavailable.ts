import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { WEB } from '../../ir/web-notes.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { quoted } from '../../kit/text/quoted.ts';
import { ROUTER_OF_PLUGIN } from '../../routing/routers/routers.ts';
import { CONTEXT_COMPRESSION } from '../../stages/plugins/context-compression/compression-goal.ts';
import { engineIssue } from '../../stages/plugins/web/choose-engine.ts';
import type { WebSettings } from '../../stages/plugins/web/web-settings.ts';
import { STAGE_PLUGINS } from '../../stages/table.ts';
import type { GatewaySettings } from './settings.ts';

/**
 * Refuses what this gateway knows by name but cannot do: a plugin that is switched on, a tool that the gateway itself
 * would have to run. Nothing is silently ignored.
 */
export function refuseUnavailable(
  { body }: GenerationRequest,
  { vendor, web }: Pick<GatewaySettings, 'vendor'> & Partial<Pick<GatewaySettings, 'web'>>,
): void {
  if (!Array.isArray(body.plugins) && !Array.isArray(body.tools)) return;
  const ofPlugins = pluginIssues(body.plugins, web);
  const ofTools = toolIssues(body.tools, vendor);
  if (ofPlugins.length + ofTools.length > 0) throw invalidRequest([...ofPlugins, ...ofTools]);
}

/** Plugins that do something; the others are known by name. Those that are no stages belong to planning. */
const AVAILABLE_PLUGINS: ReadonlySet<string> = new Set([
  ...STAGE_PLUGINS,
  ...ROUTER_OF_PLUGIN.keys(),
  CONTEXT_COMPRESSION,
]);

function pluginIssues(plugins: Json | undefined, web: WebSettings | undefined): Issue[] {
  return issuesOf(plugins, ({ id, enabled, engine }, index) => {
    if (enabled === false) return undefined;
    if (!AVAILABLE_PLUGINS.has(String(id))) {
      const message = `the plugin ${quoted(String(id))} is not available on this gateway`;
      return { path: `plugins[${index}].id`, message };
    }
    const message =
      id === WEB && typeof engine === 'string' && web !== undefined ? engineIssue(engine, web) : undefined;
    return message === undefined ? undefined : { path: `plugins[${index}].engine`, message };
  });
}

function toolIssues(tools: Json | undefined, vendor: string): Issue[] {
  const prefix = `${vendor}:`;
  return issuesOf(tools, ({ type }, index) =>
    typeof type === 'string' && type.startsWith(prefix)
      ? { path: `tools[${index}].type`, message: `the tool ${quoted(type)} is not available on this gateway` }
      : undefined,
  );
}

function issuesOf(
  list: Json | undefined,
  issueOf: (value: JsonObject, index: number) => Issue | undefined,
): Issue[] {
  const issues: Issue[] = [];
  if (!Array.isArray(list)) return issues;
  list.forEach((value, index) => {
    const issue = isJsonObject(value) ? issueOf(value, index) : undefined;
    if (issue !== undefined) issues.push(issue);
  });
  return issues;
}
