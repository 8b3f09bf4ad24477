import Type from 'typebox';
import { FUSION, isFusionModel } from '../../catalog/fusion-team.ts';
import { cacheControlSchema } from '../../dialects/shared/requests/gateway-fields.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { Places } from '../../ir/places.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import { WEB } from '../../ir/web-notes.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt, stringsAt, withoutNulls } from '../../kit/json/members.ts';
import { closed, nullish } from '../../kit/json/schema.ts';
import { compileValidator, type Issue, UNKNOWN_FIELD } from '../../kit/json/validate.ts';
import { quoted } from '../../kit/text/quoted.ts';
import { ROUTER_OF_PLUGIN } from '../../routing/routers/routers.ts';
import { CONTEXT_COMPRESSION } from '../../stages/plugins/context-compression/compression-goal.ts';
import { STAGE_PLUGINS } from '../../stages/table.ts';
import { parameterIssues } from '../../tools/parameter-issues.ts';
import type { ServerTool, ToolSettings } from '../../tools/server-tool.ts';
import { SERVER_TOOLS } from '../../tools/table.ts';
import { engineIssue } from '../../web/choose-engine.ts';
import type { WebSettings } from '../../web/web-settings.ts';

/**
 * Refuses what this gateway knows by name but cannot do: a plugin that is switched on, a tool that the gateway itself
 * would have to run. Nothing is silently ignored. Without `settings` only names and parameters are checked.
 */
export function refuseUnavailable(
  { body, format, tools, places }: Pick<GenerationRequest, 'body' | 'format' | 'tools' | 'places'>,
  vendor: string,
  settings?: ToolSettings,
): void {
  if (!Array.isArray(body.plugins) && tools.length === 0) return;
  const scope = { prefix: `${vendor}:`, format, settings };
  const ofPlugins = [...pluginIssues(body.plugins, settings?.web), ...fusionIssues(body.plugins, scope)];
  const ofTools = toolIssues(tools, places, scope);
  if (ofPlugins.length + ofTools.length > 0) throw invalidRequest([...ofPlugins, ...ofTools]);
}

/** Refuses fusion in a request that is part of a fusion: it would never end. */
export function refuseFusion(request: GenerationRequest, vendor: string): void {
  const { body, tools, places } = request;
  const message = 'is not possible here: the request is part of a fusion';
  const ofPlugin = issuesOf(body.plugins, ({ id, enabled }, index) =>
    id === FUSION && enabled !== false ? { path: `plugins[${index}].id`, message } : undefined,
  );
  const ofTool = tools.flatMap((tool) =>
    tool.type === 'hosted' && tool.kind === `${vendor}:${FUSION}`
      ? [{ path: `${places.of(tool) ?? 'tools'}.type`, message }]
      : [],
  );
  const ofModel = request.models.some((id) => isFusionModel(id, vendor)) ? [{ path: 'model', message }] : [];
  const issues = [...ofPlugin, ...ofTool, ...ofModel];
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Plugins that do something; the others are known by name. Those that are no stages belong to planning. */
const AVAILABLE_PLUGINS: ReadonlySet<string> = new Set([
  ...STAGE_PLUGINS,
  ...ROUTER_OF_PLUGIN.keys(),
  CONTEXT_COMPRESSION,
  FUSION,
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

function fusionIssues(plugins: Json | undefined, scope: ToolScope): Issue[] {
  if (!Array.isArray(plugins)) return [];
  return plugins.flatMap((value, index) => {
    if (!isJsonObject(value) || value.id !== FUSION || value.enabled === false) return [];
    return [
      ...nestedIssues(value, `plugins[${index}]`, scope),
      ...teamIssues(value, `plugins[${index}]`, scope),
    ];
  });
}

/** Fusion among the models of a fusion. */
function teamIssues(wish: JsonObject, place: string, { prefix }: ToolScope): Issue[] {
  const vendor = prefix.slice(0, -1);
  const named = [
    ...(stringsAt(wish, 'analysis_models') ?? []).map(
      (id, index) => [id, `analysis_models[${index}]`] as const,
    ),
    [stringAt(wish, 'model') ?? '', 'model'] as const,
  ];
  return named.flatMap(([id, path]) =>
    isFusionModel(id, vendor) ? [{ path: `${place}.${path}`, message: 'must not be fusion itself' }] : [],
  );
}

function toolIssues(tools: readonly Tool[], places: Places, scope: ToolScope): Issue[] {
  const { prefix } = scope;
  const instances = new Set<string>();
  return tools.flatMap((tool) => {
    if (tool.type !== 'hosted' || !tool.kind.startsWith(prefix)) return [];
    const { kind, value } = tool;
    const name = kind.slice(prefix.length);
    const place = places.of(tool) ?? 'tools';
    const issues = issuesOfTool(value, name, place, scope);
    return issues.length > 0 ? issues : instanceIssues(value, name, place, instances);
  });
}

/** Two instances of one tool by the same name, or without one: the model could not tell them apart. */
function instanceIssues(value: JsonObject, name: string, place: string, instances: Set<string>): Issue[] {
  const instance = SERVER_TOOLS.get(name)?.instance?.(objectAt(value, 'parameters') ?? {});
  const key = `${name} ${instance}`;
  if (!instances.has(key)) {
    instances.add(key);
    return [];
  }
  if (instance === undefined) return [{ path: `${place}.type`, message: `the tool ${name} is given twice` }];
  return [
    {
      path: `${place}.parameters.name`,
      message:
        instance === ''
          ? `only one ${name} tool may have no name`
          : `there is already a tool ${name} with the name ${quoted(instance)}`,
    },
  ];
}

interface ToolScope {
  readonly prefix: string;
  readonly format: RequestFormat;
  readonly settings: ToolSettings | undefined;
  /** True for tools of a model that a tool calls. */
  readonly isNested?: boolean;
}

/** Problems of a server tool in a request: its parameters, or why it cannot run here. */
function issuesOfTool(value: JsonObject, name: string, place: string, scope: ToolScope): Issue[] {
  const tool = SERVER_TOOLS.get(name);
  if (tool === undefined) {
    const message = `the tool ${quoted(String(value.type))} is not available on this gateway`;
    return [{ path: `${place}.type`, message }];
  }
  if (tool.formats?.includes(scope.format) === false) {
    const message = `the tool ${quoted(name)} is only for the formats ${tool.formats.join(', ')}`;
    return [{ path: `${place}.type`, message }];
  }
  const misplaced = TOOL_MEMBERS.issuesOf(value);
  if (misplaced.length > 0) return misplaced.map((issue) => memberIssue(issue, tool, place));
  const given = value.parameters ?? {};
  const issues = parameterIssues(tool, given);
  const inside = `${place}.parameters`;
  const nested =
    tool.callsModels === true && isJsonObject(given)
      ? [...nestedIssues(given, inside, scope), ...teamIssues(given, inside, scope)]
      : [];
  if (issues.length > 0 || !isJsonObject(given)) {
    const own = issues.map(({ path, message }) => ({
      path: path === '' ? inside : `${inside}.${path}`,
      message,
    }));
    return [...own, ...nested];
  }
  if (scope.isNested === true && (tool.callsModels === true || tool.endsAnswer === true)) {
    return [
      { path: `${place}.type`, message: `the tool ${quoted(name)} is not for models that a tool calls` },
    ];
  }
  if (nested.length > 0) return nested;
  const { settings } = scope;
  const issue = settings && tool.unavailable?.(withoutNulls(given), settings);
  return issue === undefined ? [] : [{ path: `${place}.${issue.path ?? 'type'}`, message: issue.message }];
}

const TOOL_MEMBERS = compileValidator(
  closed({
    type: Type.String(),
    parameters: nullish(Type.Object({})),
    cache_control: nullish(cacheControlSchema),
  }),
);

/** A problem of a member beside `parameters`, where settings are often put by mistake. */
function memberIssue({ path, message }: Issue, { parameters }: ServerTool, place: string): Issue {
  const isParameter = path in ((parameters as { properties?: object }).properties ?? {});
  const advice =
    message === UNKNOWN_FIELD && isParameter ? `: put it into parameters (parameters.${path})` : '';
  return { path: `${place}.${path}`, message: message + advice };
}

/** Problems of the tools that a model may use which a tool calls: only server tools are run for it. */
function nestedIssues({ tools }: JsonObject, outer: string, scope: ToolScope): Issue[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((value, index) => {
    if (!isJsonObject(value) || typeof value.type !== 'string') return [];
    const place = `${outer}.tools[${index}]`;
    if (!value.type.startsWith(scope.prefix)) {
      return [
        { path: `${place}.type`, message: `must be a server tool: its type begins with ${scope.prefix}` },
      ];
    }
    return issuesOfTool(value, value.type.slice(scope.prefix.length), place, { ...scope, isNested: true });
  });
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
