import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { head, never, SSE } from '../fakes/fake-upstream.ts';
import { lastToolResult, openToolGateway, type ToolGateway } from './tool-gateway.ts';

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway({ tools: { limits: { tool_ms: 500 } } });
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const CALL = { name: 'advisor', arguments: '{"prompt":"?"}', id: 'call_a' };
const TOOLS = { tools: [{ type: 'signalbox:advisor', parameters: { model: 'm/other' } }] };

async function legsOf(id: string | null): Promise<any[]> {
  const response = await tools.gateway.fetch(`/generation?id=${id}`);
  return ((await response.json()) as any).data.legs;
}

describe('models that tools call', () => {
  it('end with the time of the tool, and the answer goes on', async () => {
    tools.answers('m/chat', { tools: [CALL] });
    tools.upstream.answer([head(200, SSE), never()]);
    tools.answers('m/chat', { text: 'Alone then.' });
    const response = await tools.gateway.post('/responses', {
      model: 'm/chat',
      input: 'x',
      stream: true,
      ...TOOLS,
    });
    expect(await response.text()).toContain('the tool gave no result in its time');
    const legs = await legsOf(response.headers.get('x-generation-id'));
    expect(legs.map(({ kind, status }) => [kind, status])).toEqual([
      ['main', 'completed'],
      ['advisor', 'cancelled'],
      ['main', 'completed'],
    ]);
  });

  it('give an error where a guardrail does not allow them', async () => {
    const patch = (allowed: string[] | null) =>
      tools.gateway.fetch('/guardrails/default', {
        method: 'PATCH',
        key: tools.gateway.managementKey,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ allowed_models: allowed }),
      });
    const patched = await patch(['m/chat']);
    expect(patched.status, await patched.text()).toBe(200);
    tools.answers('m/chat', { tools: [CALL] }, { text: 'Alone then.' });
    const { status, body } = await tools.ask('/responses', 'm/chat', TOOLS);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.output.map((item: any) => item.status)).toEqual(['failed', 'completed']);
    expect(lastToolResult(tools.upstream.requests[1]).status).toBe('error');
    expect(tools.upstream.requests).toHaveLength(2);
    await patch(null);
  });
});
