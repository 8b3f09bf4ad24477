import type { Config } from '../config/schema/schema.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { McpLimits } from './client/remote-server.ts';
import type { RemoteTool } from './client/remote-tool.ts';

export interface ConfiguredServer {
  readonly label: string;
  readonly url: string;
  /** With the operator's credential, if there is one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly description: string | undefined;
  readonly tools: ToolSelection;
  /** True if keys of all accounts may use it. */
  readonly allAccounts: boolean;
  /** Ids or slugs of workspaces, and hashes of keys, that may use it; both undefined = all of the first account. */
  readonly workspaces: ReadonlySet<string> | undefined;
  readonly keys: ReadonlySet<string> | undefined;
}

export interface ToolSelection {
  /** Undefined = all. */
  readonly names: ReadonlySet<string> | undefined;
  /** Names of tools that may not be used though they are in `names`. */
  readonly except?: ReadonlySet<string>;
  /** Only those that the server marks as read-only. */
  readonly readOnly: boolean;
}

export function mcpLimitsOf(limits: Config['tools']['limits']): {
  readonly list: McpLimits;
  readonly call: McpLimits;
} {
  const { fetch_ms, tool_ms, read_bytes: readBytes, result_characters: resultCharacters } = limits;
  return {
    list: { totalMs: fetch_ms, readBytes, resultCharacters },
    call: { totalMs: tool_ms, readBytes, resultCharacters },
  };
}

export type ConfiguredServers = ReadonlyMap<string, ConfiguredServer>;

export function configuredServersOf({ tools }: Pick<Config, 'tools'>): ConfiguredServers {
  const servers = Object.entries(tools.mcp_servers).map(
    ([label, server]) =>
      [
        label,
        {
          label,
          url: server.url,
          headers: { ...server.headers, ...authorizationOf(server.authorization) },
          description: server.description ?? undefined,
          tools: { names: setOf(server.allowed_tools), readOnly: server.read_only },
          allAccounts: server.all_accounts,
          workspaces: setOf(server.workspaces),
          keys: setOf(server.keys),
        },
      ] as const,
  );
  return new Map(servers);
}

/** The header for a token: a bearer token unless another scheme stands before it. */
export function authorizationOf(token: string | null | undefined): Readonly<Record<string, string>> {
  if (token === null || token === undefined || token === '') return {};
  return { authorization: /^\S+\s+\S/.test(token) ? token : `Bearer ${token}` };
}

/**
 * Whether a caller may use a server. The credential is the operator's: other accounts than the operator's own, the
 * first one, may use it only if the configuration says so. Slugs are unique within an account only, so they mean
 * workspaces of the first account.
 */
export function isGranted(
  { allAccounts, workspaces, keys }: ConfiguredServer,
  { key, accountId, workspace }: Caller,
  firstAccountId: string | undefined,
): boolean {
  if (allAccounts) return true;
  if (workspaces === undefined && keys === undefined) return accountId === firstAccountId;
  if (keys?.has(key.hash) === true || workspaces?.has(workspace.id) === true) return true;
  return accountId === firstAccountId && workspaces?.has(workspace.slug) === true;
}

/** Labels of servers that no configuration key opens or closes to other accounts than the first. */
export function unassignedServers(servers: ConfiguredServers): readonly string[] {
  return [...servers.values()]
    .filter(
      ({ allAccounts, workspaces, keys }) => !allAccounts && workspaces === undefined && keys === undefined,
    )
    .map(({ label }) => label);
}

export function isSelected(
  { name, isReadOnly }: RemoteTool,
  ...selections: readonly ToolSelection[]
): boolean {
  return selections.every(
    ({ names, except, readOnly }) =>
      (names === undefined || names.has(name)) && except?.has(name) !== true && (!readOnly || isReadOnly),
  );
}

function setOf(list: readonly string[] | null | undefined): ReadonlySet<string> | undefined {
  return list === null || list === undefined ? undefined : new Set(list);
}
