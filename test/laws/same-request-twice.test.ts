import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openToolGateway, PATHS, type ToolGateway, type ToolModel } from '../features/tools/tool-gateway.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../kit/fakes/mcp-server.ts';

/** An upstream reads its cache only if a prompt begins byte by byte like the one before, its tools included. */

let toolGateway: ToolGateway;
let servers: FakeMcpServer[];

/** Milliseconds until each server lists its tools: another one is the slowest each time. */
let delays = [0, 0, 0];

beforeAll(async () => {
  servers = await Promise.all(
    ['a', 'b', 'c'].map(async (name, index) => {
      const names = [`${name}_search`, `${name}_read`, `${name}_write`];
      const server = await openMcpServer({
        async tools() {
          await sleep(delays[index] ?? 0);
          return { tools: names.map((each) => tool(each)), ttlMs: 0 };
        },
      });
      return server;
    }),
  );
  toolGateway = await openToolGateway({
    egress: { allow: servers.map(({ port }) => `127.0.0.1:${port}`) },
  });
});

afterAll(async () => {
  await toolGateway.close();
  await Promise.all(servers.map((server) => server.close()));
});

const UPSTREAM_FORMATS: Partial<Record<ToolModel, string>> = {
  'm/chat': 'chat',
  'm/responses': 'responses',
  'm/messages': 'messages',
};
const MODELS = Object.keys(UPSTREAM_FORMATS) as ToolModel[];

it.each(
  PATHS.filter((path) => path !== '/chat/completions').flatMap((path) =>
    MODELS.map((model) => ({ path, model })),
  ),
)(
  'with tools of three MCP servers goes out twice in the same bytes ($path, $model)',
  async ({ path, model }) => {
    const { upstream } = toolGateway;
    upstream.clear();
    const bodies: string[] = [];
    for (const turn of [0, 1, 2]) {
      delays = [0, 1, 2].map((index) => ((index + turn) % 3) * 30);
      toolGateway.answers(model, { text: 'Done.' });
      const { status, body } = await toolGateway.ask(path, model, toolsOf(path));
      expect(status, JSON.stringify(body)).toBe(200);
      bodies.push(String(upstream.requests.at(-1)?.body));
    }
    // An upstream of the caller's own format lists the tools by itself.
    const isRelayed = path === `/${UPSTREAM_FORMATS[model]}`;
    for (const name of ['a_search', 'c_write']) expect(bodies[0]?.includes(name)).toBe(!isRelayed);
    expect(new Set(bodies).size).toBe(1);
  },
);

function toolsOf(path: (typeof PATHS)[number]) {
  const labelled = servers.map(({ url }, index) => ({ url, label: `s${index}` }));
  const own = { name: 'own', description: 'does its own', parameters: { type: 'object', properties: {} } };
  if (path === '/messages') {
    const { parameters: input_schema, ...named } = own;
    return {
      tools: [
        { ...named, input_schema },
        ...labelled.map(({ label }) => ({ type: 'mcp_toolset', mcp_server_name: label })),
      ],
      mcp_servers: labelled.map(({ url, label }) => ({ type: 'url', url, name: label })),
    };
  }
  return {
    tools: [
      { type: 'function', ...own },
      ...labelled.map(({ url, label }) => ({
        type: 'mcp',
        server_label: label,
        server_url: url,
        require_approval: 'never',
      })),
    ],
  };
}
