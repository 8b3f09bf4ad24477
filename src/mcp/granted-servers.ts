import type { JsonObject } from '../kit/json/json.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { ApprovedCalls, GivenApproval, ResultText } from './approved-calls.ts';
import type { CallResult } from './client/call-result.ts';
import type { McpClient, McpOwner, RemoteCall, ToolList } from './client/mcp-client.ts';
import { McpProblem } from './client/mcp-problem.ts';
import type { McpLimits, RemoteServer } from './client/remote-server.ts';
import type { RemoteTool } from './client/remote-tool.ts';
import {
  authorizationOf,
  type ConfiguredServer,
  type ConfiguredServers,
  isGranted,
} from './configured-servers.ts';

import type { TokenRefresher } from './token-refresher.ts';

export interface GrantedServersDependencies {
  readonly client: McpClient;
  readonly approvedCalls: ApprovedCalls;
  readonly tokens: TokenRefresher;
  readonly servers: () => ConfiguredServers;
  readonly limits: () => { readonly list: McpLimits; readonly call: McpLimits };
  /** The operator's account; undefined until it is known. */
  readonly firstAccountId: () => string | undefined;
}

/** The MCP servers that callers may use, each with the credential for that caller. */
export class GrantedServers {
  readonly #dependencies: GrantedServersDependencies;

  constructor(dependencies: GrantedServersDependencies) {
    this.#dependencies = dependencies;
  }

  grantedTo(caller: Caller): readonly ConfiguredServer[] {
    const { servers, firstAccountId } = this.#dependencies;
    return [...servers().values()].filter((server) => isGranted(server, caller, firstAccountId()));
  }

  /**
   * The server with its credential: that of the request, else the token that the account stored for the caller, else
   * the operator's. `given`: headers of the request; others than `authorization` do not replace those of the operator.
   * Rejects with an McpProblem if the token has expired and cannot be refreshed.
   */
  async remoteFor(
    configured: ConfiguredServer,
    caller: Caller,
    given: Headers = {},
    refused?: string,
  ): Promise<RemoteServer> {
    const { label, url, headers } = configured;
    const own = only(given, isAuthorization);
    const token = hasAny(own)
      ? undefined
      : await this.#dependencies.tokens.accessTokenFor(caller, label, refused);
    const credential = hasAny(own) ? own : authorizationOf(token);
    const kept = hasAny(credential) ? only(headers, (name) => !isAuthorization(name)) : headers;
    const added = only(given, (name) => !isAuthorization(name) && !hasHeader(headers, name));
    const renewed = async () => {
      const next = await this.remoteFor(configured, caller, given, token);
      return next.headers.authorization === credential.authorization ? undefined : next;
    };
    return {
      label,
      url,
      headers: { ...added, ...kept, ...credential },
      isConfigured: true,
      ...(token !== undefined && { renewed }),
    };
  }

  /** All tools of a server. Rejects with an McpProblem or the signal's reason. */
  tools(server: RemoteServer, caller: Caller, signal: AbortSignal): Promise<ToolList> {
    const { client, limits } = this.#dependencies;
    return authorized(server, (each) => client.tools(each, ownerOf(caller), limits().list, signal));
  }

  /** Calls a tool. Rejects with an McpProblem or the signal's reason. */
  call(
    server: RemoteServer,
    caller: Caller,
    tool: RemoteTool,
    given: JsonObject,
    signal: AbortSignal,
    more: Pick<RemoteCall, 'onProgress' | 'trace'> = {},
  ): Promise<CallResult> {
    const { client, limits } = this.#dependencies;
    const { name, inputSchema } = tool;
    const call = { name, arguments: given, inputSchema, ...more };
    return authorized(server, (each) => client.call(each, ownerOf(caller), call, limits().call, signal));
  }

  /** Calls a tool for a model, which gets text. Rejects as `call` does. */
  async callForText(...call: Parameters<GrantedServers['call']>): Promise<ResultText> {
    const result = await this.call(...call);
    return { text: result.text(), isError: result.isError };
  }

  /** Runs a call that its caller has approved, unless it was run before. Rejects as `ApprovedCalls.run` does. */
  callApproved(approval: GivenApproval, call: () => Promise<ResultText>): Promise<ResultText> {
    return this.#dependencies.approvedCalls.run(approval, call);
  }
}

/** An exchange with a server; once more with a new credential if the server refuses the one that it has. */
async function authorized<T>(
  server: RemoteServer,
  exchange: (server: RemoteServer) => Promise<T>,
): Promise<T> {
  try {
    return await exchange(server);
  } catch (problem) {
    if (!(problem instanceof McpProblem) || problem.reason !== 'unauthorized') throw problem;
    const renewed = await server.renewed?.();
    if (renewed === undefined) throw problem;
    return exchange(renewed);
  }
}

function ownerOf({ accountId, key }: Caller): McpOwner {
  return { accountId, keyHash: key.hash };
}

type Headers = Readonly<Record<string, string>>;

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}

function only(headers: Headers, isKept: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
}

function hasAny(headers: Headers): boolean {
  return Object.keys(headers).length > 0;
}

function hasHeader(headers: Headers, name: string): boolean {
  return Object.keys(headers).some((own) => own.toLowerCase() === name.toLowerCase());
}
