import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatBody } from '../../kit/fakes/answers.ts';
import { end, head, JSON_TYPE, never, SSE, stall, write } from '../../kit/fakes/fake-upstream.ts';
import { lastToolResult, openToolGateway, type ToolGateway } from './tool-gateway.ts';

let tools: ToolGateway;
beforeAll(async () => {
  const timeouts_ms = { first_byte: 1_500, idle: 1_500, total: 30_000 };
  tools = await openToolGateway({ tools: { limits: { tool_ms: 100 } } }, {}, { timeouts_ms });
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const CALL = { name: 'advisor', arguments: '{"prompt":"?"}', id: 'call_a' };
const TOOLS = { tools: [{ type: 'signalbox:advisor', parameters: { model: 'm/other' } }] };

async function recordOf(id: string | null): Promise<any> {
  const response = await tools.gateway.fetch(`/generation?id=${id}`);
  return ((await response.json()) as any).data;
}

describe('models that tools call', () => {
  it('have the time of model calls, not of tools', async () => {
    tools.answers('m/chat', { tools: [CALL] });
    const slow = JSON.stringify(chatBody({ text: 'Ask again.' }));
    tools.upstream.answer([stall(500), head(200, JSON_TYPE), write(slow), end()]);
    tools.answers('m/chat', { text: 'Not alone.' });
    const { status, body } = await tools.ask('/responses', 'm/chat', TOOLS);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(JSON.stringify(lastToolResult(tools.upstream.requests[2]))).toContain('Ask again.');
  });

  it('end with that time, written off, and the answer goes on', async () => {
    tools.answers('m/chat', { tools: [CALL] });
    tools.upstream.answer([head(200, SSE), never()]);
    tools.answers('m/chat', { text: 'Alone then.' });
    const response = await tools.gateway.post('/responses', {
      model: 'm/chat',
      input: 'x',
      stream: true,
      ...TOOLS,
    });
    expect(await response.text()).toContain('Alone then.');
    const { legs, write_offs: writeOffs } = await recordOf(response.headers.get('x-generation-id'));
    expect(legs.map(({ kind, status }: any) => [kind, status])).toEqual([
      ['main', 'completed'],
      ['advisor', 'failed'],
      ['main', 'completed'],
    ]);
    expect(writeOffs).toEqual([{ cause: 'time_limit', cost: expect.any(Number) }]);
  });

  it('give an error where the key does not allow them', async () => {
    const manage = (method: string, path: string, body: object) =>
      tools.gateway.fetch(path, {
        method,
        key: tools.gateway.managementKey,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const made = await manage('POST', '/keys', { name: 'one model', allowed_models: ['m/chat'] });
    const { key } = (await made.json()) as any;
    tools.answers('m/chat', { tools: [CALL] }, { text: 'Alone then.' });
    const response = await tools.gateway.post(
      '/responses',
      { model: 'm/chat', input: 'x', ...TOOLS },
      { authorization: `Bearer ${key}` },
    );
    const body = (await response.json()) as any;
    expect(response.status, JSON.stringify(body)).toBe(200);
    expect(body.output.map((item: any) => item.status)).toEqual(['failed', 'completed']);
    expect(JSON.stringify(lastToolResult(tools.upstream.requests[1]))).toContain(
      'the key allows only m/chat',
    );
    expect(tools.upstream.requests).toHaveLength(2);
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
