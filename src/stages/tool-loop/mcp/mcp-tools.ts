import type { Endpoint } from '../../../catalog/catalog.ts';
import { invalidRequest } from '../../../ir/errors.ts';
import { conversationForm } from '../../../ir/format-facts.ts';
import type { Item } from '../../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import { passedText } from '../../../ir/wire-watch.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { stringAt } from '../../../kit/json/members.ts';
import type { Issue } from '../../../kit/json/validate.ts';
import { mapAtOnce } from '../../../kit/loop/map-at-once.ts';
import { urlOf } from '../../../kit/net/url-of.ts';
import { countText } from '../../../kit/text/count-text.ts';
import { quoted } from '../../../kit/text/quoted.ts';
import {
  type AskedServer,
  MCP_TOOLSET,
  readAskedServer,
  readListedServer,
  readToolset,
} from '../../../mcp/asked-server.ts';
import type { ToolList } from '../../../mcp/client/mcp-client.ts';
import { McpProblem } from '../../../mcp/client/mcp-problem.ts';
import type { RemoteServer } from '../../../mcp/client/remote-server.ts';
import type { RemoteTool } from '../../../mcp/client/remote-tool.ts';
import { unlessAborted } from '../../../mcp/client/session.ts';
import { isSelected, type ToolSelection } from '../../../mcp/configured-servers.ts';
import type { GrantedServers } from '../../../mcp/granted-servers.ts';
import {
  type HostedTool,
  isMcpServer,
  listedMcpServers,
  MCP,
  type WantedTool,
} from '../../../tools/wanted-tools.ts';
import type { StageContext } from '../../stage.ts';
import { withReported } from '../ignored-members.ts';
import { type Approval, readMcpHistory } from './mcp-history.ts';
import { MCP_APPROVAL_REQUEST, MCP_CALL, MCP_TOOL_USE, mcpServerTool, membersOf } from './mcp-server-tool.ts';

/** A server of a request, with the tools that the request may use. */
export interface ListedServer {
  readonly server: RemoteServer;
  readonly tools: readonly RemoteTool[];
  /** Why there is no list. */
  readonly error: string | undefined;
}

export interface McpTools {
  /** The request without items of MCP servers, and without servers that offer nothing. */
  readonly request: GenerationRequest;
  readonly wanted: readonly WantedTool[];
  /** Servers whose tools callers are shown. */
  readonly lists: readonly ListedServer[];
  readonly servers: readonly ListedServer[];
  /** Calls that run before the model is asked. */
  readonly approved: readonly Approval[];
}

interface AskedEntry {
  /** The tool that stands for the server in the request. */
  readonly of: HostedTool;
  readonly asked: AskedServer;
  /** True if it is listed beside the tools. */
  readonly isListed: boolean;
  /** The tool that says which tools of a listed server may be used. */
  readonly toolset?: HostedTool | undefined;
}

function entriesOf(request: GenerationRequest): readonly AskedEntry[] {
  const { tools, places, formatFacts } = request;
  const named = tools
    .filter(isMcpServer)
    .map((of) => ({ of, asked: readAskedServer(of.value) as AskedServer, isListed: false }));
  const field = formatFacts.conversation?.mcpServersField ?? '';
  const listed = listedMcpServers(request).map((server, index) => {
    const name = stringAt(server, 'name') ?? '';
    const toolset = tools.find((tool) => isToolsetOf(tool, name)) as HostedTool | undefined;
    const cache = toolset?.value.cache_control;
    const value = { type: MCP, server_label: name, ...(cache !== undefined && { cache_control: cache }) };
    const of: HostedTool = { type: 'hosted', dialect: 'messages', kind: MCP, value };
    return {
      of: places.put(of, `${field}[${index}]`),
      asked: readListedServer(server, toolset?.value),
      isListed: true,
      toolset,
    };
  });
  return [...named, ...listed];
}

function isToolsetOf(tool: Tool, name: string): boolean {
  return isToolset(tool) && stringAt(tool.value, 'mcp_server_name') === name;
}

function isToolset(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.kind === MCP_TOOLSET;
}

function withListedServers(request: GenerationRequest, entries: readonly AskedEntry[]): GenerationRequest {
  const listed = entries.filter(({ isListed }) => isListed);
  const field = request.formatFacts.conversation?.mcpServersField;
  if (listed.length === 0 || field === undefined) return request;
  const { [field]: _, ...body } = request.body;
  const { [field]: __, ...messages } = request.ext.messages ?? {};
  return {
    ...request,
    body,
    ext: { ...request.ext, messages },
    tools: [...request.tools, ...listed.map(({ of }) => of)],
  };
}

/**
 * True if the upstream calls the servers of a request itself: it speaks the caller's format, and gets the caller's own
 * body. Servers of the configuration are known to the gateway alone.
 */
function isLeftToUpstream(
  entries: readonly AskedEntry[],
  { wishes, formatFacts }: GenerationRequest,
  { caller }: StageContext,
  endpoints: readonly Endpoint[],
): boolean {
  const isRelayed = caller.guardrails.length === 0 && wishes.plugins.length === 0 && endpoints.length > 0;
  const hasItems = conversationForm(formatFacts).hasMcpItems === true;
  return (
    isRelayed &&
    entries.every(({ asked, isListed }) => asked.url !== undefined && (hasItems || isListed)) &&
    endpoints.every(({ provider }) => entries.every(({ of }) => of.dialect === provider.dialect))
  );
}

/**
 * The tools of the MCP servers of a request; undefined = there are none, or the upstream calls them. `isWorking`: the
 * gateway runs other tools of the request in any case.
 */
export async function listedMcpTools(
  request: GenerationRequest,
  context: StageContext,
  granted: GrantedServers,
  { endpoints, isWorking }: { readonly endpoints: readonly Endpoint[]; readonly isWorking: boolean },
): Promise<McpTools | undefined> {
  const entries = entriesOf(request);
  if (entries.length === 0) return undefined;
  if (!isWorking && isLeftToUpstream(entries, request, context, endpoints)) return undefined;
  return listMcpTools(withListedServers(request, entries), entries, context, granted);
}

const MAX_SERVERS = 20;

const LISTS_AT_ONCE = 4;

/** Lists the tools of all MCP servers of a request. Throws 400 for a server that the caller cannot use. */
async function listMcpTools(
  request: GenerationRequest,
  entries: readonly AskedEntry[],
  context: StageContext,
  granted: GrantedServers,
): Promise<McpTools> {
  const beyond = entries[MAX_SERVERS];
  if (beyond !== undefined) {
    const path = request.places.of(beyond.of) ?? 'tools';
    refuse([{ path, message: `a request may name at most ${MAX_SERVERS} MCP servers` }]);
  }
  const { items, listed, approved, unasked } = readMcpHistory(request.items);
  refuse(unasked.map((item) => unaskedIssue(item, request)));
  const read = entries.map((entry) => askedOf(entry, request, context, granted));
  refuse(read.flatMap((each) => ('message' in each ? [each] : [])));
  const asked = read.flatMap((each) => ('asked' in each ? [each] : []));
  refuse([...duplicateIssues(asked), ...toolsetIssues(request, asked)]);
  const found = await allLists(asked, request, context, granted);
  refuse(approvalIssues(found, request));
  refuseMissing(found, request);
  const wanted = found.flatMap(({ of, isListed, server, tools, asked: { label, needsApproval }, about }) =>
    tools.map((tool): WantedTool => {
      const mcpTool = { server, tool, about, needsApproval: needsApproval(tool) };
      return {
        of,
        tool: mcpServerTool(mcpTool, granted),
        parameters: {},
        hostedAs: isListed ? MCP_TOOL_USE : mcpTool.needsApproval ? MCP_APPROVAL_REQUEST : MCP_CALL,
        // Callers decide about calls that need approval as the model wrote them.
        ...(mcpTool.needsApproval && { schema: {} }),
        shown: membersOf(label, tool.name),
        isChosen: (choice) => isChosenBy(choice, label, tool.name),
      };
    }),
  );
  const without = new Set<Tool>(found.filter(({ tools }) => tools.length === 0).map(({ of }) => of));
  const kept = request.tools.filter((tool) => !without.has(tool) && !isToolset(tool));
  return {
    request: withIgnored({ ...request, items, tools: kept }, found),
    wanted,
    lists: found.filter(({ server }) => !listed.has(server.label)),
    servers: found,
    approved,
  };
}

interface Asked extends AskedEntry {
  readonly place: string;
  /** What the operator lets callers use. */
  readonly allowed: ToolSelection;
  readonly about: string | undefined;
  readonly remote: () => Promise<RemoteServer>;
}

interface Found extends Asked, ListedServer {
  /** Names of the tools that the operator lets callers use. */
  readonly offered: ReadonlySet<string>;
}

const ALL: ToolSelection = { names: undefined, readOnly: false };

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalidRequest(issues);
}

/** A server of the request, or why it cannot be used. */
function askedOf(
  entry: AskedEntry,
  { places }: GenerationRequest,
  { caller }: StageContext,
  granted: GrantedServers,
): Asked | Issue {
  const { label, url, headers, description } = entry.asked;
  const place = places.of(entry.of) ?? 'tools';
  const members = entry.isListed ? LISTED_MEMBERS : TOOL_MEMBERS;
  if (url !== undefined) {
    if (!/^https?:$/.test(urlOf(url)?.protocol ?? ''))
      return { path: `${place}.${members.url}`, message: 'is not an http address' };
    const remote = async () => ({ label, url, headers, isConfigured: false });
    return { ...entry, place, allowed: ALL, about: description, remote };
  }
  const configured = granted.grantedTo(caller).find((server) => server.label === label);
  if (configured === undefined) {
    const message = `there is no MCP server ${quoted(label)} for this key: give its ${members.url}`;
    return { path: `${place}.${members.label}`, message };
  }
  const about = description ?? configured.description;
  const remote = () => granted.remoteFor(configured, caller, headers);
  return { ...entry, place, allowed: configured.tools, about, remote };
}

/** Names of the members of a server, in a tool and in a list of servers. */
const TOOL_MEMBERS = { label: 'server_label', url: 'server_url' } as const;
const LISTED_MEMBERS = { label: 'name', url: 'url' } as const;

function duplicateIssues(all: readonly Asked[]): Issue[] {
  return all.flatMap(({ asked, place, isListed }, index) => {
    const first = all.findIndex((other) => other.asked.label === asked.label);
    if (first === index) return [];
    const { label } = isListed ? LISTED_MEMBERS : TOOL_MEMBERS;
    return [{ path: `${place}.${label}`, message: `${quoted(asked.label)} names another server already` }];
  });
}

const UNASKED =
  'names no mcp_approval_request of this conversation, nor one that this key was given within the last hour: ' +
  'send that item too';

function unaskedIssue(item: Item, { places }: GenerationRequest): Issue {
  const path = `${places.of(item) ?? 'input'}.approval_request_id`;
  return { path, message: UNASKED };
}

/** Formats without items for it cannot ask the caller. */
function approvalIssues(found: readonly Found[], { formatFacts }: GenerationRequest): Issue[] {
  if (conversationForm(formatFacts).hasMcpItems === true) return [];
  return found.flatMap(({ place, tools, asked: { needsApproval } }) =>
    tools.some(needsApproval)
      ? [
          {
            path: `${place}.require_approval`,
            message: 'must be "never": this format cannot ask for approval',
          },
        ]
      : [],
  );
}

/** All lists, within the time of one: servers that hang must not add up. */
async function allLists(
  asked: readonly Asked[],
  request: GenerationRequest,
  context: StageContext,
  granted: GrantedServers,
): Promise<Found[]> {
  const ended = new AbortController();
  const end = () => ended.abort(new McpProblem('timeout', LATE));
  const timer = setTimeout(end, context.settings.web.limits.fetchMs);
  try {
    return await mapAtOnce(asked, LISTS_AT_ONCE, (each) =>
      listOf(each, request, context, granted, ended.signal),
    );
  } finally {
    clearTimeout(timer);
  }
}

const LATE = 'no list of tools within the time for all servers of a request';

/** `ended`: aborted, with an McpProblem, when the time for all lists is over. */
async function listOf(
  each: Asked,
  { watch }: GenerationRequest,
  context: StageContext,
  granted: GrantedServers,
  ended: AbortSignal,
): Promise<Found> {
  const { asked, allowed } = each;
  let server: RemoteServer = { label: asked.label, url: '', headers: {}, isConfigured: false };
  try {
    ended.throwIfAborted();
    server = await unlessAborted(each.remote(), ended);
    const list = await unlessAborted(granted.tools(server, context.caller, context.signal), ended);
    noteFlags(asked.label, list, context);
    const offered = list.tools.filter((tool) => isSelected(tool, allowed));
    const tools = offered.filter((tool) => isSelected(tool, asked.tools));
    const names = new Set(offered.map(({ name }) => name));
    return { ...each, server, tools, offered: names, error: undefined };
  } catch (problem) {
    if (!(problem instanceof McpProblem)) throw problem;
    const error = problem.message;
    const summary = `${asked.label}: ${await passedText(error, watch)}`;
    context.note({ type: 'server_tools', name: MCP, summary });
    return { ...each, server, tools: [], offered: NO_NAMES, error };
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Toolsets of servers that the request does not list. */
function toolsetIssues({ tools, places }: GenerationRequest, asked: readonly Asked[]): Issue[] {
  return tools.filter(isToolset).flatMap((tool) => {
    if (asked.some(({ toolset }) => toolset === tool)) return [];
    const name = stringAt(tool.value, 'mcp_server_name') ?? '';
    const path = `${places.of(tool) ?? 'tools'}.mcp_server_name`;
    const isListed = asked.some(({ asked: { label }, toolset }) => label === name && toolset !== undefined);
    const message = isListed
      ? `the MCP server ${quoted(name)} has another toolset already`
      : `there is no MCP server ${quoted(name)} in mcp_servers`;
    return [{ path, message }];
  });
}

/** Refuses a choice of a tool that its server does not have, as one of a function that is not there. */
function refuseMissing(found: readonly Found[], { toolChoice }: GenerationRequest): void {
  const choices =
    toolChoice?.mode === 'hosted'
      ? [toolChoice.value]
      : toolChoice?.mode === 'allowed'
        ? toolChoice.tools
        : [];
  const missing = choices.flatMap((choice) => {
    const [label, name] = [stringAt(choice, 'server_label'), stringAt(choice, 'name')];
    const server = found.find(({ asked }) => asked.label === label);
    if (choice.type !== MCP || name === undefined || server === undefined) return [];
    if (server.error !== undefined || server.tools.some((tool) => tool.name === name)) return [];
    const message = `names the tool ${quoted(name)}, which the MCP server ${quoted(label ?? '')} does not offer`;
    return [{ path: 'tool_choice', message }];
  });
  if (missing.length > 0) throw invalidRequest(missing, 'unprocessable');
}

/** The request with a report on members of its servers that have no effect, and on tools that no server has. */
function withIgnored(request: GenerationRequest, found: readonly Found[]): GenerationRequest {
  return withReported(request, (report) => {
    for (const { of, asked, toolset, offered, error } of found) {
      const parts = [
        { of, ...asked },
        ...(toolset === undefined ? [] : [{ of: toolset, ...readToolset(toolset.value) }]),
      ];
      for (const part of parts) {
        for (const path of part.unread) {
          report.ignored(
            report.place(part.of, 'tools', path),
            'has no effect: the gateway calls the server itself',
          );
        }
        // A server that gave no list may have them.
        if (error !== undefined) continue;
        for (const { path, name } of part.mentions) {
          if (offered.has(name)) continue;
          report.ignored(report.place(part.of, 'tools', path), `the server has no tool ${quoted(name)}`);
        }
      }
    }
  });
}

/** Tells the caller of tools that have changed, which may be an attack, and of those that cannot be offered. */
function noteFlags(label: string, { changed, unusable, taskTools }: ToolList, { note }: StageContext): void {
  if (changed.length > 0) {
    note({
      type: 'server_tools',
      name: MCP,
      summary: `${label}: the description of tools has changed`,
      data: { server_label: label, changed_tools: [...changed] },
    });
  }
  if (taskTools.length > 0) {
    const summary = `${label}: ${countText(taskTools.length, 'tool')} cannot be offered: the server runs them only as tasks`;
    note({
      type: 'server_tools',
      name: MCP,
      summary,
      data: { server_label: label, task_tools: [...taskTools] },
    });
  }
  if (unusable > 0) {
    const summary = `${label}: ${countText(unusable, 'tool')} cannot be offered`;
    note({
      type: 'server_tools',
      name: MCP,
      summary,
      data: { server_label: label, unusable_tools: unusable },
    });
  }
}

/** A choice without a label means the tools of all servers, one without a name all tools. */
function isChosenBy(choice: JsonObject, label: string, name: string): boolean {
  const means = (member: string, value: string) => (stringAt(choice, member) ?? value) === value;
  return choice.type === MCP && means('server_label', label) && means('name', name);
}
