import { conversationForm } from '../../ir/format-facts.ts';
import type { CallableTool, GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, textAt } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { toolGroupPlace, toolMemberPlace } from '../shared/report/caller-places.ts';
import { NOT_TAKEN } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import {
  type FlatNames,
  freeTextParameters,
  identityOf,
  type ToolIdentity,
} from '../shared/tools/tool-names.ts';
import { NO_CACHE_MARKS, NO_CHAT_FIELD, reportForeignMembers, takes } from './render-losses.ts';

export interface ToolsContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly report: Report;
  readonly names: FlatNames;
}

export function renderTools(context: ToolsContext): JsonObject {
  const { request, target, report } = context;
  if (request.tools.length > 0 && !takes('tools', target)) {
    report.dropped(report.name('tools'), NOT_TAKEN);
    reportLostChoice(context);
    return {};
  }
  const tools = request.tools.flatMap((tool) => renderTool(tool, context));
  if (tools.length === 0) {
    reportLostChoice(context);
    return {};
  }
  return compact({
    tools,
    tool_choice: renderToolChoice(context),
    parallel_tool_calls: request.parallelToolCalls,
  });
}

/** Reports the choice of a request whose tools are all gone: only a forced call is a loss. */
function reportLostChoice({ request, report }: ToolsContext): void {
  const mode = request.toolChoice?.mode;
  if (mode !== undefined && mode !== 'auto' && mode !== 'none') {
    report.dropped(report.name('toolChoice'), 'no tool is left to choose');
  }
}

// --- One tool -------------------------------------------------------------------------------------------------------

function renderTool(tool: Tool, context: ToolsContext): JsonObject[] {
  const { report } = context;
  if (tool.type === 'hosted') {
    if (tool.dialect === 'chat') return [tool.value];
    report.dropped(report.place(tool, 'tools'), `the upstream cannot run ${tool.kind}`);
    return [];
  }
  reportToolLosses(tool, context);
  const declared = compact({
    name: context.names.nameOf(identityOf(tool)),
    description: tool.description,
    parameters: tool.type === 'custom' ? freeTextParameters(tool) : tool.parameters,
    strict: tool.type === 'function' ? tool.strict : undefined,
  });
  return [{ type: 'function', function: declared, ...tool.ext?.chat }];
}

function reportToolLosses(tool: CallableTool, { report, names }: ToolsContext): void {
  const member = (name: string) => toolMemberPlace(tool, name, report);
  reportRenaming(identityOf(tool), member('name'), names, report);
  if (tool.type === 'function' && tool.cache !== undefined) {
    report.dropped(report.place(tool, 'tools', 'cache_control'), NO_CACHE_MARKS);
  }
  if (tool.type === 'custom' && tool.format !== undefined && tool.format.type !== 'text') {
    report.coerced(
      member('format'),
      'the upstream enforces no grammar: the description of its input states it',
    );
  }
  if (tool.namespace?.description !== undefined && tool.namespace.description !== '') {
    report.dropped(`${toolGroupPlace(tool, report)}.description`, NO_CHAT_FIELD);
  }
  reportForeignMembers(tool, 'tools', report);
}

/** Reports a changed name, unless only the group was put before it. */
export function reportRenaming(tool: ToolIdentity, place: string, names: FlatNames, report: Report): void {
  const sent = names.nameOf(tool);
  const own = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`;
  if (sent !== own) report.renamed(place, `sent as ${sent}; calls come back under the caller's name`);
}

// --- The choice among them ------------------------------------------------------------------------------------------

function renderToolChoice(context: ToolsContext): Json | undefined {
  const { request, target, report } = context;
  const choice = request.toolChoice;
  if (choice === undefined) return undefined;
  if (!takes('toolChoice', target)) {
    report.dropped(report.name('toolChoice'), NOT_TAKEN);
    return undefined;
  }
  switch (choice.mode) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.mode;
    case 'tool':
      return new ChosenFunctions(context).named(choice.kind, choice.name);
    case 'allowed':
      return renderAllowedTools(choice, context);
    case 'hosted':
      if (choice.dialect === 'chat') return choice.value;
      report.dropped(
        report.name('toolChoice'),
        `the upstream cannot run ${textAt(choice.value, 'name') ?? textAt(choice.value, 'type') ?? 'the tool'}`,
      );
      return undefined;
  }
}

function renderAllowedTools(
  choice: Extract<ToolChoice, { mode: 'allowed' }>,
  context: ToolsContext,
): JsonObject | undefined {
  const { request, report } = context;
  const functions = new ChosenFunctions(context);
  const rendered = choice.tools.map((tool) => renderAllowedTool(tool, functions, request));
  if (rendered.every((tool) => tool === undefined)) {
    report.dropped(report.name('toolChoice'), 'no tool is left to choose');
    return undefined;
  }
  const list = conversationForm(request.formatFacts).allowedToolsPath;
  for (const [position, tool] of rendered.entries()) {
    if (tool !== undefined) continue;
    const kind = textAt(choice.tools[position], 'type') ?? 'the tool';
    report.dropped(report.name('toolChoice', `${list}[${position}]`), `the upstream cannot run ${kind}`);
  }
  const tools = rendered.filter((tool) => tool !== undefined);
  return { type: 'allowed_tools', allowed_tools: { mode: choice.required ? 'required' : 'auto', tools } };
}

function renderAllowedTool(
  tool: JsonObject,
  functions: ChosenFunctions,
  { format }: GenerationRequest,
): JsonObject | undefined {
  const name = textAt(tool, 'name');
  if (tool.type === 'function' || tool.type === 'custom') {
    return name === undefined ? undefined : functions.named(tool.type, name);
  }
  return format === 'chat' ? tool : undefined;
}

/** Finds the functions that choices name. */
class ChosenFunctions {
  readonly #names: FlatNames;
  /** The first tool of each name, and the first of each kind. */
  readonly #first = new Map<string, CallableTool>();
  readonly #ofKind: Readonly<Record<CallableTool['type'], Map<string, CallableTool>>> = {
    function: new Map(),
    custom: new Map(),
  };

  constructor({ request, names }: ToolsContext) {
    this.#names = names;
    for (const tool of request.tools.toReversed()) {
      if (tool.type === 'hosted') continue;
      this.#first.set(tool.name, tool);
      this.#ofKind[tool.type].set(tool.name, tool);
    }
  }

  named(kind: CallableTool['type'], name: string): JsonObject {
    const meant = this.#ofKind[kind].get(name) ?? this.#first.get(name);
    const flat = this.#names.nameOf(meant === undefined ? { kind, name } : identityOf(meant));
    return { type: 'function', function: { name: flat } };
  }
}
