import { describe, expect, it } from 'vitest';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import { groupedTools, responsesDouble } from '../../kit/fakes/agents/responses-double.ts';
import { openToolLoop } from '../../kit/fakes/agents/tool-loop.ts';
import { openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { CLIENTS, isInstalled } from './agent.ts';
import { usingWorkPlace } from './agent-loop.ts';
import { codexSession } from './session.ts';

/** Codex puts the tools of a server into a group, which upstreams of the responses dialect get as it is. */
const WITH_GROUPS = DOUBLES.map((double) =>
  double === responsesDouble ? { ...double, toolsOf: groupedTools } : double,
);

/** Codex with `POST /mcp` as one of its MCP servers: tools of a server behind the gateway are its own. */
describe.skipIf(CLIENTS === undefined || !isInstalled(codexSession))('POST /mcp in Codex', () => {
  it.each(WITH_GROUPS)('lists and calls a tool, on $dialect', async (double) => {
    const docs = await openMcpServer({
      tools: () => ({ tools: [tool('search', { annotations: { readOnlyHint: true } })] }),
    });
    const upstream = await openToolLoop(double, {
      choose: (tools) => {
        const search = tools.find(({ name }) => name.endsWith('docs__search'));
        if (search === undefined) return undefined;
        const { name, namespace } = search;
        return { name, ...(namespace && { namespace }), arguments: { text: 'heliotrope-00c0ffee' } };
      },
      pattern: /heliotrope-[0-9a-f]{8}/,
    });
    const config = { tools: { mcp_servers: { docs: { url: docs.url } } } };
    try {
      await usingWorkPlace({ double, upstream, config }, async ({ task, door }) => {
        const settings = `
[mcp_servers.gateway]
url = "${task.origin}/api/v1/mcp"
bearer_token_env_var = "SIGNALBOX_KEY"
required = true
startup_timeout_sec = 60
`;
        const session = await codexSession.open(task, { settings });
        try {
          expect(await session.turn('Look it up.')).toEqual({
            status: 'completed',
            text: 'The note says heliotrope-00c0ffee.',
          });
        } finally {
          session.close();
        }
        expect(docs.messages.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
        expect(door.asked).toEqual([]);
      });
    } finally {
      await docs.close();
    }
  });
});
