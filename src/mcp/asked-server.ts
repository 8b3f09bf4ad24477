import type { Json, JsonObject } from '../kit/json/json.ts';
import { booleanAt, objectAt, stringAt, stringsAt, textAt } from '../kit/json/members.ts';
import { type ReadMembers, unreadMembers } from '../kit/json/unread-members.ts';
import { memberPath } from '../kit/json/validate.ts';
import type { RemoteTool } from './client/remote-tool.ts';
import { authorizationOf, type ToolSelection } from './configured-servers.ts';

/** A tool of type `mcp` in a request: a server and what may be done with its tools. */
export interface AskedServer {
  readonly label: string;
  /** The address that the caller names; undefined = a server of the configuration. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly description: string | undefined;
  readonly tools: ToolSelection;
  /** True if the caller wants to be asked before a call of the tool. */
  needsApproval(tool: RemoteTool): boolean;
  /** Paths of members that have no effect. */
  readonly unread: readonly string[];
  /** Names of tools that the caller mentions, with the path of the member that does. */
  readonly mentions: readonly { readonly path: string; readonly name: string }[];
}

const SELECTION: ReadMembers = { tool_names: true, read_only: true };

const TOOL_MEMBERS: ReadMembers = {
  type: true,
  cache_control: true,
  server_label: true,
  server_url: true,
  connector_id: true,
  authorization: true,
  headers: true,
  allowed_tools: SELECTION,
  require_approval: { always: { tool_names: true }, never: SELECTION },
  server_description: true,
};

const LISTED_MEMBERS: ReadMembers = {
  type: true,
  name: true,
  url: true,
  authorization_token: true,
  tool_configuration: { enabled: true, allowed_tools: true },
};

const TOOLSET_MEMBERS: ReadMembers = {
  type: true,
  mcp_server_name: true,
  cache_control: true,
  default_config: { enabled: true },
  configs: { '*': { enabled: true } },
};

/** Reads a tool of type `mcp`; undefined = it names a connector, which only its own provider has. */
export function readAskedServer(value: JsonObject): AskedServer | undefined {
  if (textAt(value, 'connector_id') !== undefined) return undefined;
  return {
    label: stringAt(value, 'server_label') ?? '',
    url: textAt(value, 'server_url'),
    headers: { ...headersOf(value.headers), ...authorizationOf(stringAt(value, 'authorization')) },
    description: textAt(value, 'server_description'),
    tools: selectionOf(value.allowed_tools),
    needsApproval: approvalOf(value.require_approval),
    unread: [...unreadMembers(value, TOOL_MEMBERS), ...lostHeaders(value.headers)],
    mentions: [
      ...mentionsAt('allowed_tools', selectionOf(value.allowed_tools).names),
      ...['always', 'never'].flatMap((when) =>
        mentionsAt(`require_approval.${when}`, namesIn(objectIn(value.require_approval)?.[when])),
      ),
    ],
  };
}

function mentionsAt(path: string, names: Iterable<string> = []): AskedServer['mentions'] {
  return [...names].map((name) => ({ path, name }));
}

/** The tool of the messages format that says which tools of a listed server may be used. */
export const MCP_TOOLSET = 'mcp_toolset';

/** Reads an entry of `mcp_servers` of the messages format, with its toolset if there is one. */
export function readListedServer(server: JsonObject, toolset: JsonObject | undefined): AskedServer {
  return {
    label: stringAt(server, 'name') ?? '',
    url: textAt(server, 'url'),
    headers: authorizationOf(stringAt(server, 'authorization_token')),
    description: undefined,
    tools: toolset === undefined ? configurationOf(server) : toolsetOf(toolset),
    needsApproval: () => false,
    unread: unreadMembers(server, LISTED_MEMBERS),
    mentions:
      toolset === undefined
        ? mentionsAt('tool_configuration.allowed_tools', configurationOf(server).names)
        : [],
  };
}

/** Reads a toolset beside its server: paths of members that have no effect, and the tools that it mentions. */
export function readToolset(toolset: JsonObject): Pick<AskedServer, 'unread' | 'mentions'> {
  return {
    unread: unreadMembers(toolset, TOOLSET_MEMBERS),
    mentions: mentionsAt('configs', Object.keys(objectAt(toolset, 'configs') ?? {})),
  };
}

const NO_TOOLS: ToolSelection = { names: new Set(), readOnly: false };

function configurationOf(server: JsonObject): ToolSelection {
  const configuration = objectAt(server, 'tool_configuration');
  if (configuration?.enabled === false) return NO_TOOLS;
  return selectionOf(configuration?.allowed_tools);
}

/** All tools but those that are switched off, or with a default of off only those that are switched on. */
function toolsetOf(toolset: JsonObject): ToolSelection {
  const configs = Object.entries(objectAt(toolset, 'configs') ?? {});
  const namesWith = (isEnabled: boolean) =>
    new Set(configs.flatMap(([name, config]) => (objectIn(config)?.enabled === isEnabled ? [name] : [])));
  const isOffByDefault = objectAt(toolset, 'default_config')?.enabled === false;
  return isOffByDefault
    ? { names: namesWith(true), readOnly: false }
    : { names: undefined, except: namesWith(false), readOnly: false };
}

function headersOf(value: Json | undefined): Record<string, string> {
  const headers = objectAt({ value: value ?? null }, 'value') ?? {};
  const texts = Object.entries(headers).filter(([, text]) => typeof text === 'string');
  // In one case, so that those that the gateway sets itself replace them.
  const named = texts.map(([name, text]) => [name.toLowerCase(), text] as [string, string]);
  return Object.fromEntries(named.filter(([name]) => !name.startsWith('mcp-')));
}

/** Paths of headers that are not sent: the protocol's own, and those without a text. */
function lostHeaders(value: Json | undefined): string[] {
  const sent = headersOf(value);
  return Object.keys(objectIn(value) ?? {})
    .filter((name) => !Object.hasOwn(sent, name.toLowerCase()))
    .map((name) => memberPath('headers', name));
}

/** A list of names, or an object with names and a wish for read-only tools. */
function selectionOf(value: Json | undefined): ToolSelection {
  const names = Array.isArray(value) ? stringsAt({ value }, 'value') : namesIn(value);
  return {
    names: names === undefined ? undefined : new Set(names),
    readOnly: booleanAt(objectIn(value), 'read_only') === true,
  };
}

/** Approval is needed unless the request says otherwise for the tool. */
function approvalOf(value: Json | undefined): AskedServer['needsApproval'] {
  if (value === 'never') return () => false;
  const never = objectIn(value)?.never;
  if (objectIn(never) === undefined) return () => true;
  const { names, readOnly } = selectionOf(never);
  const always = selectionOf(objectIn(value)?.always).names;
  return ({ name, isReadOnly }) => {
    if (always?.has(name) === true) return true;
    if (names === undefined) return !(readOnly && isReadOnly);
    return !(names.has(name) && (!readOnly || isReadOnly));
  };
}

function namesIn(value: Json | undefined): string[] | undefined {
  return stringsAt(objectIn(value), 'tool_names');
}

function objectIn(value: Json | undefined): JsonObject | undefined {
  return value === undefined ? undefined : objectAt({ value }, 'value');
}
