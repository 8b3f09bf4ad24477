import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openToolGateway, PATHS, type ToolGateway, textOf } from './tool-gateway.ts';

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway();
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const call = (name: string, input: object, id = 'call_a') => ({ name, arguments: JSON.stringify(input), id });

/** The requests that the upstream got, as text. */
const sent = () => tools.upstream.requests.map(({ json }) => JSON.stringify(json));

describe('experimental__search_models', () => {
  const TOOL = { type: 'signalbox:experimental__search_models', parameters: { max_results: 1 } };

  it.each(PATHS)('finds models on %s, streamed and not', async (path) => {
    for (const isStreamed of [false, true]) {
      tools.upstream.clear();
      tools.answers(
        'm/chat',
        { tools: [call('experimental__search_models', { query: 'm/' })] },
        { text: 'Found.' },
      );
      if (isStreamed) {
        expect(JSON.stringify(await tools.stream(path, 'm/chat', { tools: [TOOL] }))).toMatch(/"d\."/);
      } else {
        const { body } = await tools.ask(path, 'm/chat', { tools: [TOOL] });
        expect(textOf[path](body)).toBe('Found.');
        if (path === '/responses') {
          expect(body.output[0]).toMatchObject({
            type: TOOL.type,
            status: 'completed',
            query: 'm/',
            showing: 1,
          });
        }
      }
      const told = JSON.parse(tools.upstream.requests[1]?.json.messages.at(-1).content);
      expect(told).toMatchObject({ showing: 1 });
      expect(told.models[0]).toHaveProperty('pricing.prompt', '0.000001');
    }
  });

  it('refuses more results than it gives', async () => {
    const { status, body } = await tools.ask('/responses', 'm/chat', {
      tools: [{ ...TOOL, parameters: { max_results: 21 } }],
    });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe('tools[0].parameters.max_results');
  });
});

describe('advisor', () => {
  const advisor = (parameters: object = { model: 'm/other' }) => ({ type: 'signalbox:advisor', parameters });

  it.each(PATHS)('asks another model on %s, in one bill', async (path) => {
    tools.answers(
      'm/chat',
      { tools: [call('advisor', { prompt: 'Which way?' })], usage: { input: 10, output: 1 } },
      { text: 'North.', usage: { input: 100, output: 2 } },
      { text: 'We go north.', usage: { input: 1000, output: 4 } },
    );
    const { status, body } = await tools.ask(path, 'm/chat', {
      tools: [
        advisor({ model: 'm/other', instructions: 'Be brief.', temperature: 0.5, max_completion_tokens: 50 }),
      ],
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toBe('We go north.');
    const [, asked, last] = tools.upstream.requests.map(({ json }) => json);
    expect(asked).toMatchObject({
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Which way?' },
      ],
    });
    expect(asked.tools).toBeUndefined();
    expect(JSON.parse(last.messages.at(-1).content)).toEqual({
      status: 'ok',
      model: 'm/other',
      advice: 'North.',
    });
    if (path === '/responses') {
      expect(body.output[0]).toMatchObject({
        type: 'signalbox:advisor',
        status: 'completed',
        prompt: 'Which way?',
        model: 'm/other',
        advice: 'North.',
      });
      expect(body.usage).toMatchObject({ input_tokens: 1110, output_tokens: 7 });
    }
    expect(body.usage.cost).toBeCloseTo((1110 + 2 * 7) / 1e6, 9);
  });

  it('lists its model call among the legs', async () => {
    tools.answers(
      'm/chat',
      { tools: [call('advisor', { prompt: '?' })] },
      { text: 'Yes.' },
      { text: 'Yes!' },
    );
    const response = await tools.gateway.post('/responses', {
      model: 'm/chat',
      input: 'x',
      tools: [advisor()],
    });
    const id = response.headers.get('x-generation-id');
    await response.text();
    const found = (await (await tools.gateway.fetch(`/generation?id=${id}`)).json()) as any;
    expect(found.data.legs.map(({ kind, model }: any) => [kind, model])).toEqual([
      ['main', 'm/chat'],
      ['advisor', 'm/other'],
      ['main', 'm/chat'],
    ]);
  });

  it('streams its advice under its item', async () => {
    tools.answers(
      'm/chat',
      { tools: [call('advisor', { prompt: '?' })] },
      { text: 'Go north.' },
      { text: 'Ok.' },
    );
    const events = await tools.stream('/responses', 'm/chat', {
      tools: [advisor({ model: 'm/other', stream: true })],
    });
    const id = events.find(({ data }) => data.type === 'response.output_item.added')?.data.item.id;
    const own = events.filter(({ data }) => data.item_id === id).map(({ data }) => data);
    expect(
      own
        .filter(({ type }) => type === 'response.output_text.delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('Go north.');
    expect(own.at(-1)).toMatchObject({
      type: 'response.output_text.done',
      text: 'Go north.',
      output_index: 0,
    });
    expect(own.some(({ type }) => type.includes('content_part'))).toBe(false);
    const done = events.find(({ data }) => data.type === 'response.output_item.done');
    expect(done?.data.item).toMatchObject({ id, advice: 'Go north.' });
    const numbers = events.map(({ data }) => data.sequence_number).filter((each) => each !== undefined);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  it('has named instances, each with its own memory', async () => {
    const ask = (name: string, id: string) => call(`advisor_${name}`, { prompt: `ask ${name}` }, id);
    tools.answers('m/chat', { tools: [ask('law', 'c1')] }, { text: 'It is legal.' });
    tools.answers('m/chat', { tools: [ask('tax_office', 'c2')] }, { text: 'It is taxed.' });
    tools.answers('m/chat', { tools: [ask('law', 'c3')] }, { text: 'Still legal.' }, { text: 'Done.' });
    const { body } = await tools.ask('/responses', 'm/chat', {
      tools: [
        advisor({ name: 'law', model: 'm/other', forward_transcript: true }),
        advisor({ name: ' tax office ', model: 'm/other' }),
      ],
    });
    expect(body.output.map((item: any) => item.instance_name)).toEqual([
      'law',
      'tax office',
      'law',
      undefined,
    ]);
    const requests = tools.upstream.requests.map(({ json }) => json.messages);
    expect(requests[1][0].content).toContain('user: What is it?');
    expect(requests[3].map(({ content }: any) => content)).toEqual(['ask tax_office']);
    expect(requests[5].slice(0, 2).map(({ content }: any) => content)).toEqual(['ask law', 'It is legal.']);
    expect(requests[5].at(-1).content).toContain('tool result: ');
  });

  it('is a tool error where its model cannot answer', async () => {
    tools.answers('m/chat', { tools: [call('advisor', { prompt: '?' })] }, { text: 'Alone then.' });
    const { status, body } = await tools.ask('/responses', 'm/chat', {
      tools: [advisor({ model: 'm/none' })],
    });
    expect(status).toBe(200);
    expect(body.output[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('m/none') });
    expect(sent()[1]).toContain('error');
  });

  it.each([
    [[{}, {}], 'tools[1].parameters.name'],
    [[{ name: 'a' }, { name: ' a ' }], 'tools[1].parameters.name'],
    [[{ name: 'a!' }], 'tools[0].parameters.name'],
    [[{ tools: [{ type: 'function' }] }], 'tools[0].parameters.tools[0].type'],
    [[{ tools: [{ type: 'signalbox:advisor' }] }], 'tools[0].parameters.tools[0].type'],
    [
      [{ tools: [{ type: 'signalbox:datetime', parameters: { a: 1 } }] }],
      'tools[0].parameters.tools[0].parameters.a',
    ],
  ])('refuses %j', async (parameters, path) => {
    const { status, body } = await tools.ask('/responses', 'm/chat', { tools: parameters.map(advisor) });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe(path);
  });

  it('runs the messages format’s own advisor for other upstreams', async () => {
    tools.answers(
      'm/chat',
      { tools: [call('advisor', { prompt: '?' })] },
      { text: 'Yes.' },
      { text: 'So be it.' },
    );
    const { status, body } = await tools.ask('/messages', 'm/chat', {
      tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'm/other', max_uses: 2 }],
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.content).toMatchObject([
      { type: 'server_tool_use', name: 'advisor' },
      { type: 'advisor_tool_result', content: { type: 'advisor_result', text: 'Yes.' } },
      { type: 'text', text: 'So be it.' },
    ]);
    expect(sent()[1]).toContain('user: What is it?');
  });
});

describe('subagent', () => {
  const subagent = (parameters: object = {}) => ({ type: 'signalbox:subagent', parameters });
  const TASK = { task_name: 'Look', task_description: 'Tell the time.' };

  it.each(PATHS)('gives a task to a worker with tools of its own on %s', async (path) => {
    for (const isStreamed of [false, true]) {
      tools.upstream.clear();
      tools.answers(
        'm/chat',
        { tools: [call('subagent', TASK)] },
        { tools: [call('datetime', {}, 'call_b')] },
        { text: 'Noon.' },
        { text: 'It is noon.' },
      );
      const asked = {
        tools: [subagent({ model: 'm/other', tools: [{ type: 'signalbox:datetime' }], max_tool_calls: 1 })],
      };
      if (isStreamed) {
        const text = JSON.stringify(await tools.stream(path, 'm/chat', asked));
        expect(text).toMatch(/on\./);
        expect(text).not.toContain('signalbox:datetime","status');
      } else {
        const { body } = await tools.ask(path, 'm/chat', asked);
        expect(textOf[path](body)).toBe('It is noon.');
        if (path === '/responses') {
          expect(body.output).toHaveLength(2);
          expect(body.output[0]).toMatchObject({
            ...TASK,
            model: 'm/other',
            outcome: 'Noon.',
            status: 'completed',
          });
        }
      }
      const requests = tools.upstream.requests.map(({ json }) => json);
      expect(requests).toHaveLength(4);
      expect(requests[1].messages).toEqual([{ role: 'user', content: 'Look\n\nTell the time.' }]);
      expect(requests[2].messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_b' });
      expect(requests[2].tool_choice).toBe('none');
      expect(JSON.parse(requests[3].messages.at(-1).content)).toEqual({
        status: 'ok',
        model: 'm/other',
        task_name: 'Look',
        outcome: 'Noon.',
      });
    }
  });

  it.each([
    [{ tools: [{ type: 'function', name: 'f' }] }, 'tools[0].parameters.tools[0].type'],
    [{ tools: [{ type: 'signalbox:subagent' }] }, 'tools[0].parameters.tools[0].type'],
    [{ max_tool_calls: 26 }, 'tools[0].parameters.max_tool_calls'],
  ])('refuses %j', async (parameters, path) => {
    const { status, body } = await tools.ask('/responses', 'm/chat', { tools: [subagent(parameters)] });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe(path);
  });
});
