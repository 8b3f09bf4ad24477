import type { Endpoint } from '../../catalog/catalog.ts';
import type { ItemHead } from '../../ir/events.ts';
import type { CallableTool, GenerationRequest, RoutingWishes, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import type { ServerTool } from '../../tools/server-tool.ts';
import type { HostedTool, WantedTool } from '../../tools/wanted-tools.ts';

/** A server tool that a request has, with what it gives its model. */
export interface OfferedTool {
  readonly tool: ServerTool;
  readonly parameters: JsonObject;
  /** The hosted type by which the caller asked for it. */
  readonly hostedAs: string | undefined;
  /** The name that the model calls it by. */
  readonly name: string;
  /** JSON Schema of its arguments. */
  readonly schema: JsonObject;
}

/** The server tools of one generation, under the names by which its model calls them. */
export class OfferedTools {
  readonly #byName: ReadonlyMap<string, OfferedTool>;
  /** Names that the caller or the upstream answers for. */
  readonly #others: ReadonlySet<string>;
  /** The request with a function in the place of each server tool. */
  readonly request: GenerationRequest;
  /** The caller's wishes, with those for the loop. */
  readonly wishes: RoutingWishes;
  /** The endpoint by whose prices tools are charged. */
  readonly endpoint: Endpoint | undefined;

  /** `further`: tools that are called without being declared to the model. */
  constructor(
    request: GenerationRequest,
    wanted: readonly WantedTool[],
    endpoint: Endpoint | undefined,
    further: readonly OfferedTool[] = [],
  ) {
    const functions = new Map<Tool, CallableTool>();
    const byName = new Map<string, OfferedTool>();
    const others = new Set(request.tools.filter((tool) => !isWanted(tool, wanted)).flatMap(namesOf));
    for (const { of, tool, parameters, hostedAs } of wanted) {
      const { name: asked = tool.name, description, parameters: schema } = tool.declare(parameters);
      const name = freeName(asked, (taken) => others.has(taken) || byName.has(taken));
      byName.set(name, { tool, parameters, hostedAs, name, schema });
      functions.set(of, { type: 'function', name, description, parameters: schema, strict: false });
    }
    for (const tool of further) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    const nameOf = (type: string) =>
      [...functions].find(([of]) => of.type === 'hosted' && isNamed(of, type))?.[1].name;
    this.#byName = byName;
    this.#others = others;
    this.wishes = request.wishes;
    this.endpoint = endpoint;
    this.request = withFunctions(request, functions, nameOf);
  }

  /** The server tool that a call means; undefined = it is no server tool's name. */
  named(name: string): OfferedTool | undefined {
    return this.#byName.get(name);
  }

  /** True for the calls that the gateway answers: those of server tools, and those of tools that do not exist. */
  isOwn(head: ItemHead): boolean {
    if (head.type !== 'tool-call') return false;
    if (head.namespace === undefined && this.#byName.has(head.name)) return true;
    return head.kind === 'function' && head.namespace === undefined && !this.#others.has(head.name);
  }
}

function isWanted(tool: Tool, wanted: readonly WantedTool[]): boolean {
  return wanted.some(({ of }) => of === tool);
}

/** Names by which calls of a tool may come. */
function namesOf(tool: Tool): string[] {
  if (tool.type !== 'hosted') return [tool.name];
  const name = stringAt(tool.value, 'name');
  return name === undefined ? [tool.kind] : [tool.kind, name];
}

/** Longest name of a function that all upstreams take. */
const MAX_NAME_CHARACTERS = 64;

function freeName(asked: string, isTaken: (name: string) => boolean): string {
  const base = asked.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME_CHARACTERS);
  let name = base;
  for (let count = 2; isTaken(name); count++) {
    name = `${base.slice(0, MAX_NAME_CHARACTERS - 12)}_server_${count}`;
  }
  return name;
}

function withFunctions(
  request: GenerationRequest,
  functions: ReadonlyMap<Tool, CallableTool>,
  nameOf: (type: string) => string | undefined,
): GenerationRequest {
  const { places, toolChoice } = request;
  const tools = request.tools.map((tool) => {
    const declared = functions.get(tool);
    if (declared === undefined) return tool;
    const place = places.of(tool);
    return place === undefined ? declared : places.put(declared, place);
  });
  const { maxToolCalls: _, stopServerToolsWhen: __, ...wishes } = request.wishes;
  return {
    ...request,
    tools,
    wishes,
    ...(toolChoice !== undefined && { toolChoice: choiceWith(toolChoice, nameOf) }),
  };
}

/** A hosted tool by its type, or in the messages format by its name. */
function isNamed(of: HostedTool, type: string): boolean {
  return of.kind === type || stringAt(of.value, 'name') === type;
}

/** The choice with functions in the place of server tools. */
function choiceWith(choice: ToolChoice, nameOf: (type: string) => string | undefined): ToolChoice {
  if (choice.mode === 'hosted') {
    const name = nameOf(stringAt(choice.value, 'name') ?? stringAt(choice.value, 'type') ?? '');
    return name === undefined ? choice : { mode: 'tool', kind: 'function', name };
  }
  if (choice.mode !== 'allowed') return choice;
  return {
    ...choice,
    tools: choice.tools.map((tool) => {
      const name = nameOf(stringAt(tool, 'type') ?? '');
      return name === undefined ? tool : { type: 'function', name };
    }),
  };
}

/** The choice for legs after the first: none is forced a second time. */
export function laterChoice(choice: ToolChoice | undefined): ToolChoice | undefined {
  if (choice === undefined || choice.mode === 'none' || choice.mode === 'auto') return choice;
  return choice.mode === 'allowed' ? { ...choice, required: false } : { mode: 'auto' };
}
