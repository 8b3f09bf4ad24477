import type { Endpoint } from '../../catalog/catalog.ts';
import { parseCacheMark } from '../../dialects/shared/requests/gateway-fields.ts';
import { nameOfAllowed } from '../../dialects/shared/tools/allowed-tools.ts';
import type { ItemHead } from '../../ir/events.ts';
import type { CallableTool, GenerationRequest, RoutingWishes, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import type { ServerTool, ToolSettings } from '../../tools/server-tool.ts';
import type { WantedTool } from '../../tools/wanted-tools.ts';
import { withIgnoredMembers } from './ignored-members.ts';
import { forbidsSteps } from './stop-conditions.ts';

/** A server tool that a request has, with what it gives its model. */
export interface OfferedTool {
  readonly tool: ServerTool;
  readonly parameters: JsonObject;
  /** The hosted type by which the caller asked for it. */
  readonly hostedAs: string | undefined;
  readonly name: string;
  readonly schema: JsonObject;
  /** Members of its items that are known before it has run. */
  readonly shown?: JsonObject | undefined;
}

interface OfferedFunction {
  readonly wanted: WantedTool;
  readonly declared: CallableTool;
}

type RunsItself = (endpoint: Endpoint, tool: WantedTool) => boolean;

const NONE: ReadonlySet<WantedTool> = new Set();

/** The server tools of one generation, under the names by which its model calls them. */
export class OfferedTools {
  readonly #byName: ReadonlyMap<string, OfferedTool>;
  /** Names that the caller or the upstream answers for. */
  readonly #others: ReadonlySet<string>;
  /** Names of server tools that the request does not let the model call. */
  readonly #forbidden: ReadonlySet<string>;
  /** Functions in the place of tools, with the names by which models call them. */
  readonly #functions: readonly OfferedFunction[];
  /** The request with a function in the place of each server tool that no endpoint runs itself. */
  readonly request: GenerationRequest;
  /** The caller's wishes, with those for the loop. */
  readonly wishes: RoutingWishes;
  /** The endpoint by whose prices tools are charged. */
  readonly endpoint: Endpoint | undefined;

  readonly #runsItself: RunsItself;
  readonly #settings: ToolSettings;

  /**
   * `further`: tools that are called without being declared to the model. `left`: tools of `wanted` that some endpoints
   * run themselves (`runsItself`): these get them as the caller wrote them.
   */
  constructor(
    request: GenerationRequest,
    wanted: readonly WantedTool[],
    endpoint: Endpoint | undefined,
    settings: ToolSettings,
    {
      further = [],
      left = NONE,
      runsItself = () => false,
    }: {
      readonly further?: readonly OfferedTool[];
      readonly left?: ReadonlySet<WantedTool>;
      readonly runsItself?: RunsItself;
    } = {},
  ) {
    const functions: OfferedFunction[] = [];
    const byName = new Map<string, OfferedTool>();
    const others = new Set(request.tools.filter((tool) => !isWanted(tool, wanted)).flatMap(namesOf));
    // A cache mark of a tool is on the last of its functions.
    const lastOf = new Map(wanted.map((each) => [each.of, each]));
    for (const each of wanted) {
      const { of, tool, parameters, hostedAs, shown } = each;
      const { name: asked = tool.name, description, parameters: schema } = tool.declare(parameters);
      const name = freeName(asked, (taken) => others.has(taken) || byName.has(taken));
      byName.set(name, { tool, parameters, hostedAs, name, schema: each.schema ?? schema, shown });
      const cache = lastOf.get(of) === each ? parseCacheMark(of.value.cache_control) : undefined;
      const declared: CallableTool = {
        type: 'function',
        name,
        description,
        parameters: schema,
        strict: false,
        ...(cache !== undefined && { cache }),
      };
      const place = request.places.of(of);
      functions.push({
        wanted: each,
        declared: place === undefined ? declared : request.places.put(declared, place),
      });
    }
    for (const tool of further) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    this.#byName = byName;
    this.#others = others;
    this.#functions = functions;
    this.#runsItself = runsItself;
    this.#settings = settings;
    const mayCall = allowedBy(request.toolChoice && this.#choice(request.toolChoice, functions));
    const names = functions.map(({ declared }) => declared.name);
    this.#forbidden = new Set(names.filter((name) => !mayCall(name)));
    this.wishes = request.wishes;
    this.endpoint = endpoint;
    const own = functions.filter(({ wanted: each }) => !left.has(each));
    this.request = own.length === 0 && left.size > 0 ? request : this.#offering(request, own);
  }

  /** The request as an endpoint gets it: with functions in the place of tools that it does not run itself. */
  requestFor(request: GenerationRequest, endpoint: Endpoint): GenerationRequest {
    const lacking = this.#functions.filter(
      ({ wanted }) => request.tools.includes(wanted.of) && !this.#runsItself(endpoint, wanted),
    );
    return lacking.length === 0 ? request : this.#offering(request, lacking);
  }

  #offering(request: GenerationRequest, functions: readonly OfferedFunction[]): GenerationRequest {
    const { toolChoice } = request;
    const { maxToolCalls: _, stopServerToolsWhen: __, ...wishes } = request.wishes;
    const offering: GenerationRequest = {
      ...request,
      tools: withFunctions(request.tools, functions),
      wishes,
      ...(toolChoice !== undefined && { toolChoice: this.#choice(toolChoice, functions) }),
    };
    const wanted = functions.map((each) => each.wanted);
    const reporting = withIgnoredMembers(withKnownTypes(offering, wanted), wanted, this.#settings);
    return forbidsSteps(this.wishes) ? this.#withoutOwn(reporting) : reporting;
  }

  #choice(choice: ToolChoice, functions: readonly OfferedFunction[]): ToolChoice {
    const chosenNames = (meant: JsonObject) =>
      functions.flatMap(({ wanted, declared }) => (isChosen(wanted, meant) ? [declared.name] : []));
    return choiceWith(choice, chosenNames, (name) => this.#others.has(name));
  }

  /** The request without server tools: the model can only call the other tools, or none. */
  #withoutOwn(request: GenerationRequest): GenerationRequest {
    const { toolChoice, ...rest } = request;
    const tools = request.tools.filter((tool) => tool.type !== 'function' || !this.#byName.has(tool.name));
    if (tools.length === 0) return { ...rest, toolChoice: { mode: 'none' } };
    const isKept =
      toolChoice !== undefined && (toolChoice.mode !== 'tool' || !this.#byName.has(toolChoice.name));
    return { ...rest, tools, ...(isKept && { toolChoice }) };
  }

  /** The server tool that a call means; undefined = it is no server tool's name, or one that may not be called. */
  named(name: string): OfferedTool | undefined {
    return this.#forbidden.has(name) ? undefined : this.#byName.get(name);
  }

  /** True if there is such a server tool, and the request does not let the model call it. */
  isForbidden(name: string): boolean {
    return this.#forbidden.has(name);
  }

  /** True for the calls that the gateway answers: those of server tools, and those of tools that do not exist. */
  isOwn(head: ItemHead): boolean {
    if (head.type !== 'tool-call') return false;
    if (head.namespace === undefined && this.#byName.has(head.name)) return true;
    return head.kind === 'function' && head.namespace === undefined && !this.#others.has(head.name);
  }
}

/** The request in which the types of tools that run here are known, also those of releases to come. */
function withKnownTypes(request: GenerationRequest, wanted: readonly WantedTool[]): GenerationRequest {
  const { undocumented, places } = request;
  if (undocumented === undefined) return request;
  const known = new Set(wanted.map(({ of }) => `${places.of(of)}.type`));
  return { ...request, undocumented: undocumented.filter(({ path }) => !known.has(path)) };
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

function withFunctions(tools: readonly Tool[], functions: readonly OfferedFunction[]): readonly Tool[] {
  return tools.flatMap((tool): readonly Tool[] => {
    const own = functions.filter(({ wanted }) => wanted.of === tool);
    return own.length === 0 ? [tool] : own.map(({ declared }) => declared);
  });
}

/** Names of the functions that a choice of a hosted tool means. */
type ChosenNames = (choice: JsonObject) => readonly string[];

/** A server tool by its type, by its name, or by a hosted type that it stands for. */
function isChosen({ of, tool, isChosen: isMeant }: WantedTool, choice: JsonObject): boolean {
  if (isMeant !== undefined) return isMeant(choice);
  const named = stringAt(choice, 'name') ?? stringAt(choice, 'type') ?? '';
  return (
    of.kind === named ||
    stringAt(of.value, 'name') === named ||
    tool.name === named ||
    tool.hostedTypes?.test(named) === true
  );
}

function choiceWith(
  choice: ToolChoice,
  chosenNames: ChosenNames,
  isOther: (name: string) => boolean,
): ToolChoice {
  const isServerTool = choice.mode === 'tool' && !isOther(choice.name);
  if (choice.mode === 'hosted' || isServerTool) {
    const [name, ...more] = chosenNames(choice.mode === 'hosted' ? choice.value : { name: choice.name });
    if (name === undefined) return choice;
    if (more.length === 0) return { mode: 'tool', kind: 'function', name };
    return { mode: 'allowed', required: true, tools: [name, ...more].map(functionNamed) };
  }
  if (choice.mode !== 'allowed') return choice;
  return {
    ...choice,
    tools: choice.tools.flatMap((tool) => {
      const isCallers = tool.type === 'function' && isOther(stringAt(tool, 'name') ?? '');
      const names = isCallers ? [] : chosenNames(tool);
      return names.length === 0 ? [tool] : names.map(functionNamed);
    }),
  };
}

/** Which tools a choice lets the model call. A forced one is a matter of the upstream. */
function allowedBy(choice: ToolChoice | undefined): (name: string) => boolean {
  if (choice?.mode === 'none') return () => false;
  if (choice?.mode !== 'allowed') return () => true;
  const names = new Set(choice.tools.map(nameOfAllowed));
  return (name) => names.has(name);
}

function functionNamed(name: string): JsonObject {
  return { type: 'function', name };
}

/** The choice for legs after the first: none is forced a second time. */
export function laterChoice(choice: ToolChoice | undefined): ToolChoice | undefined {
  if (choice === undefined || choice.mode === 'none' || choice.mode === 'auto') return choice;
  return choice.mode === 'allowed' ? { ...choice, required: false } : { mode: 'auto' };
}
