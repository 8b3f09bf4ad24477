import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lastToolResult, openToolGateway, type ToolGateway } from './tool-gateway.ts';

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway();
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const TYPE = 'signalbox:apply_patch';
const TOOLS = { tools: [{ type: TYPE }] };
const UPDATE = { type: 'update_file', path: 'a.ts', diff: '@@\n-a\n+b\n' };

const call = (operation: object, id = 'call_a') => ({
  name: 'apply_patch',
  arguments: JSON.stringify({ operation }),
  id,
});

describe('apply_patch', () => {
  it.each(['m/chat', 'm/messages'] as const)('hands a valid patch of %s to the caller', async (model) => {
    tools.answers(model, { text: 'I change it.', tools: [call(UPDATE)] });
    const { status, body } = await tools.ask('/responses', model, TOOLS);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.status).toBe('completed');
    expect(body.output[1]).toMatchObject({
      type: TYPE,
      status: 'completed',
      call_id: 'call_a',
      operation: UPDATE,
    });
    expect(tools.upstream.requests).toHaveLength(1);

    tools.upstream.clear();
    tools.answers(model, { text: 'I change it.', tools: [call(UPDATE)] });
    const events = await tools.stream('/responses', model, TOOLS);
    const done = events.filter(({ data }) => data.type === 'response.output_item.done');
    expect(done.at(-1)?.data.item).toMatchObject({ type: TYPE, operation: UPDATE });
    expect(events.at(-2)?.data.type).toBe('response.completed');
  });

  it('tells the model what is wrong with a patch', async () => {
    tools.answers('m/chat', { tools: [call({ ...UPDATE, diff: 'a' })] }, { tools: [call(UPDATE, 'call_b')] });
    const { body } = await tools.ask('/responses', 'm/chat', TOOLS);
    expect(body.output.map(({ status, call_id }: any) => [call_id, status])).toEqual([
      ['call_a', 'failed'],
      ['call_b', 'completed'],
    ]);
    expect(lastToolResult(tools.upstream.requests[1])).toMatchObject({
      error: expect.stringContaining('line 1'),
    });
  });

  it('takes what became of a patch from the caller', async () => {
    tools.answers('m/chat', { tools: [call(UPDATE)] }, { text: 'Good.' });
    const { body } = await tools.ask('/responses', 'm/chat', TOOLS);
    const outcome = {
      type: 'apply_patch_call_output',
      call_id: 'call_a',
      status: 'failed',
      output: 'no such file',
    };
    const input = [{ role: 'user', content: 'x' }, ...body.output, outcome];
    const second = await tools.ask('/responses', 'm/chat', { ...TOOLS, input });
    expect(second.status, JSON.stringify(second.body)).toBe(200);
    expect(lastToolResult(tools.upstream.requests[1])).toEqual({ status: 'failed', output: 'no such file' });
    expect(tools.upstream.requests[1]?.json.messages.map(({ role }: any) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('is the upstream’s own where it has one', async () => {
    tools.answers('m/responses', { text: 'Hm.' }, { tools: [call(UPDATE)] });
    await tools.ask('/responses', 'm/responses', TOOLS);
    expect(tools.upstream.requests[0]?.json.tools).toEqual([{ type: 'apply_patch' }]);
    const own = { tools: [{ type: TYPE, parameters: { engine: 'signalbox' } }] };
    const { body } = await tools.ask('/responses', 'm/responses', own);
    expect(tools.upstream.requests[1]?.json.tools).toMatchObject([{ type: 'function', name: 'apply_patch' }]);
    expect(body.output[0]).toMatchObject({ type: TYPE, operation: UPDATE });
  });

  it.each([
    ['/responses', { engine: 'native' }, 'tools[0].parameters.engine'],
    ['/responses', { engine: 'other' }, 'tools[0].parameters.engine'],
    ['/messages', {}, 'tools[0].type'],
    ['/chat/completions', {}, 'tools[0].type'],
  ] as const)('is refused on %s with %j', async (path, parameters, place) => {
    const { status, body } = await tools.ask(path, 'm/chat', { tools: [{ type: TYPE, parameters }] });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe(place);
  });
});

describe('apply_patch of the format itself', () => {
  const HOSTED = { tools: [{ type: 'apply_patch' }] };

  it.each(['m/chat', 'm/messages'] as const)('is checked here and handed over for %s', async (model) => {
    tools.answers(
      model,
      { tools: [call({ ...UPDATE, diff: 'a' }, 'call_x')] },
      { text: 'I change it.', tools: [call(UPDATE)] },
    );
    const { status, body } = await tools.ask('/responses', model, HOSTED);
    expect(status, JSON.stringify(body)).toBe(200);
    // A call that is not valid is between the model and the gateway.
    expect(body.output.map(({ type }: any) => type)).toEqual(['message', 'apply_patch_call']);
    expect(body.output[1]).toEqual({
      id: expect.stringMatching(/^apc_/),
      type: 'apply_patch_call',
      status: 'completed',
      call_id: 'call_a',
      operation: UPDATE,
    });
    expect(body.signalbox_metadata.translation).toEqual([
      { field: 'tools[0]', action: 'coerced', detail: 'became a function' },
    ]);

    tools.upstream.clear();
    tools.answers(model, { text: 'Good.' });
    const outcome = {
      type: 'apply_patch_call_output',
      call_id: 'call_a',
      status: 'completed',
      output: 'done',
    };
    const input = [{ role: 'user', content: 'x' }, ...body.output, outcome];
    const second = await tools.ask('/responses', model, { ...HOSTED, input });
    expect(second.status, JSON.stringify(second.body)).toBe(200);
    const sent = JSON.stringify(tools.upstream.requests[0]?.json.messages);
    expect(sent).toContain('call_a');
    expect(sent).toContain('done');
  });

  it('streams its item once it is valid', async () => {
    tools.answers('m/chat', { tools: [call({ ...UPDATE, diff: 'a' })] }, { tools: [call(UPDATE, 'call_b')] });
    const events = await tools.stream('/responses', 'm/chat', HOSTED);
    const items = events.filter(({ data }) => data.type?.startsWith('response.output_item.'));
    expect(items.map(({ data }) => [data.type, data.output_index, data.item.call_id])).toEqual([
      ['response.output_item.added', 0, 'call_b'],
      ['response.output_item.done', 0, 'call_b'],
    ]);
  });

  it('is left to upstreams of the format', async () => {
    tools.answers('m/responses', { text: 'Hm.' });
    await tools.ask('/responses', 'm/responses', HOSTED);
    expect(tools.upstream.requests[0]?.json.tools).toEqual([{ type: 'apply_patch' }]);
  });
});
