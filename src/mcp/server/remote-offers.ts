import type { Log } from '../../kit/log/log.ts';
import type { Caller } from '../../ports/caller.ts';
import { McpProblem } from '../client/mcp-problem.ts';
import type { RemoteServer } from '../client/remote-server.ts';
import type { RemoteTool } from '../client/remote-tool.ts';
import { type ConfiguredServer, isSelected } from '../configured-servers.ts';
import type { GrantedServers } from '../granted-servers.ts';
import type { OfferedTool, ToolText } from './offered-tool.ts';

/** Between the label of a server and the name of its tool. */
const SEPARATOR = '__';

/** The tools of all servers that a caller may use. A server that cannot be reached is left out. */
export async function remoteOffers(
  granted: GrantedServers,
  caller: Caller,
  signal: AbortSignal,
  log: Pick<Log, 'warn'>,
): Promise<readonly OfferedTool[]> {
  const offers = await Promise.all(
    granted.grantedTo(caller).map(async (configured): Promise<OfferedTool[]> => {
      try {
        const server = await granted.remoteFor(configured, caller);
        const { tools } = await granted.tools(server, caller, signal);
        return tools
          .filter((tool) => isSelected(tool, configured.tools))
          .map((tool) => offerOf(configured, server, tool, granted, caller));
      } catch (problem) {
        if (!(problem instanceof McpProblem)) throw problem;
        log.warn('an MCP server gave no list of its tools', {
          server: configured.label,
          reason: problem.message,
        });
        return [];
      }
    }),
  );
  return offers.flat();
}

function offerOf(
  { label, description: about }: ConfiguredServer,
  server: RemoteServer,
  tool: RemoteTool,
  granted: GrantedServers,
  caller: Caller,
): OfferedTool {
  const { name, description, inputSchema, annotations } = tool;
  return {
    name: `${label}${SEPARATOR}${name}`,
    description: about === undefined ? description : `${description}\n\n${about}`,
    inputSchema,
    annotations,
    async run(given, { signal }): Promise<ToolText> {
      try {
        const { text, isError } = await granted.call(server, caller, tool, given, signal);
        return { text, isError };
      } catch (problem) {
        if (!(problem instanceof McpProblem)) throw problem;
        return { text: problem.message, isError: true };
      }
    },
  };
}
