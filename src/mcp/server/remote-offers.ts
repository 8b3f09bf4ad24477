import { mcpToolName } from '../../ir/mcp-function-name.ts';
import { textBlock } from '../../ir/tool-result-block.ts';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import { numberAt } from '../../kit/json/members.ts';
import type { Log } from '../../kit/log/log.ts';
import { mapAtOnce } from '../../kit/loop/map-at-once.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { RemoteCall } from '../client/mcp-client.ts';
import { McpProblem } from '../client/mcp-problem.ts';
import { identityOf, type RemoteServer } from '../client/remote-server.ts';
import type { RemoteTool } from '../client/remote-tool.ts';
import { type ConfiguredServer, isSelected } from '../configured-servers.ts';
import type { GrantedServers } from '../granted-servers.ts';
import type { OfferedTool, ToolResult, ToolRun } from './offered-tool.ts';

/** Servers that are asked for their tools at the same time, for one list. */
const SERVERS_AT_ONCE = 16;

/** Servers, each with a credential, whose outages are known. */
const MAX_OUTAGES = 1000;

/** The tools that may be used of one server, or why there is no list. */
type Listing =
  | { readonly tools: readonly OfferedTool[]; readonly taskTools: readonly string[] }
  | { readonly problem: McpProblem };

export class RemoteOffers {
  readonly #granted: GrantedServers;
  readonly #log: Pick<Log, 'warn' | 'info'>;
  /** Servers with a credential that gave no list when they were last asked: each outage is logged once. */
  readonly #outages = new RecentMap<string, true>(MAX_OUTAGES);

  constructor(granted: GrantedServers, log: Pick<Log, 'warn' | 'info'>) {
    this.#granted = granted;
    this.#log = log;
  }

  /** The tools of all servers that a caller may use. A server that cannot be reached is left out. */
  async of(caller: Caller, signal: AbortSignal): Promise<readonly OfferedTool[]> {
    const listings = await mapAtOnce(this.#granted.grantedTo(caller), SERVERS_AT_ONCE, (configured) =>
      this.#listingOf(configured, caller, signal),
    );
    return listings.flatMap((listing) => ('tools' in listing ? listing.tools : []));
  }

  /**
   * The tool of that name; undefined = there is none. Asks only the server with its label. If that gives no list, calls
   * of the tool fail with the reason.
   */
  async named(name: string, caller: Caller, signal: AbortSignal): Promise<OfferedTool | undefined> {
    // The configuration has no label that begins with another and the separator.
    const configured = this.#granted
      .grantedTo(caller)
      .find(({ label }) => name.startsWith(mcpToolName(label, '')));
    if (configured === undefined) return undefined;
    const { label, tools } = configured;
    if (tools.names?.has(name.slice(mcpToolName(label, '').length)) === false) return undefined;
    const listing = await this.#listingOf(configured, caller, signal);
    if ('problem' in listing) {
      return failingOffer(name, `the server gave no list of its tools: ${listing.problem.message}`);
    }
    return listing.taskTools.includes(name.slice(mcpToolName(label, '').length))
      ? failingOffer(name, 'the server runs the tool only as a task, which the gateway does not offer')
      : listing.tools.find((tool) => tool.name === name);
  }

  async #listingOf(configured: ConfiguredServer, caller: Caller, signal: AbortSignal): Promise<Listing> {
    const granted = this.#granted;
    const { label } = configured;
    // Until its credential is known, a server fails for this key only.
    let outage = `${label} ${caller.key.hash}`;
    try {
      const server = await granted.remoteFor(configured, caller);
      this.#ended(outage, label);
      outage = identityOf(server);
      const { tools, taskTools } = await granted.tools(server, caller, signal);
      this.#ended(outage, label);
      return {
        tools: tools
          .filter((tool) => isSelected(tool, configured.tools))
          .map((tool) => offerOf(configured, server, tool, granted, caller)),
        taskTools,
      };
    } catch (problem) {
      if (!(problem instanceof McpProblem)) throw problem;
      this.#began(outage, label, problem.message);
      return { problem };
    }
  }

  #began(outage: string, label: string, reason: string): void {
    if (this.#outages.get(outage) === true) return;
    this.#outages.set(outage, true);
    this.#log.warn('an MCP server gave no list of its tools', { server: label, reason });
  }

  #ended(outage: string, label: string): void {
    if (this.#outages.delete(outage)) {
      this.#log.info('an MCP server gives the list of its tools again', { server: label });
    }
  }
}

const UNSTRUCTURED = 'the tool declares structured content, and the result has none within the limits';

function failure(text: string): ToolResult {
  return { blocks: [textBlock(text)], isError: true };
}

/** A tool whose calls fail: what its arguments are is not known. */
function failingOffer(name: string, message: string): OfferedTool {
  return {
    name,
    description: '',
    inputSchema: { type: 'object' },
    run: async () => failure(message),
  };
}

function passedProgress(onProgress: ToolRun['onProgress']): RemoteCall['onProgress'] {
  if (onProgress === undefined) return undefined;
  return (told) => {
    const progress = numberAt(told, 'progress');
    const total = numberAt(told, 'total');
    if (progress !== undefined) onProgress({ progress, ...(total !== undefined && { total }) });
  };
}

function offerOf(
  { label, description: about }: ConfiguredServer,
  server: RemoteServer,
  tool: RemoteTool,
  granted: GrantedServers,
  caller: Caller,
): OfferedTool {
  const { name, description, inputSchema, outputSchema, presentation } = tool;
  return {
    name: mcpToolName(label, name),
    description: about === undefined ? description : `${description}\n\n${about}`,
    inputSchema,
    outputSchema,
    presentation,
    async run(given, { signal, onProgress }): Promise<ToolResult> {
      try {
        const result = await granted.call(server, caller, tool, given, signal, {
          onProgress: passedProgress(onProgress),
        });
        const { isError } = result;
        const structured = result.structured();
        // Clients refuse a result without what the tool declares.
        if (outputSchema !== undefined && structured === undefined && !isError) return failure(UNSTRUCTURED);
        return { blocks: result.blocks(), structured, isError };
      } catch (problem) {
        if (!(problem instanceof McpProblem)) throw problem;
        return failure(problem.message);
      }
    },
  };
}
