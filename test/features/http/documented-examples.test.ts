import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_TOOL_NAMES } from '../../../src/dialects/shared/requests/gateway-fields.ts';
import { routesFor } from '../../../src/http/routes/routes.ts';
import { SERVER_TOOLS } from '../../../src/tools/table.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
});

afterAll(() => gateway.close());

describe('the examples of generation routes', () => {
  const rows = routesFor('signalbox').filter(({ tag }) => tag === 'Generation');

  const withTools = rows.flatMap(({ path, operationId, example }) =>
    Object.values(example?.otherBodies ?? {})
      .filter((body) => 'tools' in body && operationId.startsWith('create'))
      .map((body) => [path, body] as const),
  );

  it.each(withTools)('with tools are answered, and count their calls: %s %j', async (path, body) => {
    const reply = await gateway.post(path, body);
    const { usage } = (await reply.json()) as any;
    expect(reply.status).toBe(200);
    const counts = { web_search_requests: 0, tool_calls_requested: 1, tool_calls_executed: 1 };
    expect(path === '/messages' ? counts : usage.server_tool_use_details).toEqual(counts);
  });

  it('name every tool that the gateway runs', () => {
    const names = [...SERVER_TOOL_NAMES, 'apply_patch'].sort();
    expect(names).toEqual([...SERVER_TOOLS.keys()].sort());
  });

  it('are described: servers, advisors and counts of calls', async () => {
    const document = (await (await gateway.fetch('/openapi.json')).json()) as any;
    const bodyOf = (path: string) =>
      JSON.stringify(document.paths[path].post.requestBody) + JSON.stringify(document.components.schemas);
    expect(bodyOf('/messages')).toContain('"mcp_servers"');
    expect(bodyOf('/messages')).toContain('"signalbox:advisor"');
    for (const path of ['/responses', '/chat/completions']) {
      const { schema } = document.paths[path].post.responses['200'].content['application/json'];
      const name = schema.$ref?.split('/').at(-1);
      const { usage } = (name === undefined ? schema : document.components.schemas[name]).properties;
      expect(JSON.stringify(usage)).toContain('"server_tool_use_details"');
      expect(JSON.stringify(document.paths[path].post.requestBody.content)).toContain('signalbox:advisor');
    }
  });
});
