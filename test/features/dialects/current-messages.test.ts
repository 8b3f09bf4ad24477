import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  chatAnswer,
  messagesAnswer,
  messagesBody,
  messagesFrames,
  responsesAnswer,
  sse,
} from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  type Script,
  SSE,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

/** What today's clients of the messages format send: to Anthropic, and to upstreams of other dialects. */

const KINDS = ['anthropic', 'proxy', 'alike', 'chat', 'responses'] as const;
type Kind = (typeof KINDS)[number];

/** Those that take everything of the dialect: by their row of the table, and by the configuration. */
const WITH_ALL = ['anthropic', 'proxy'] as const;

const ANSWERS = {
  anthropic: messagesAnswer({ text: 'Hello' }),
  proxy: messagesAnswer({ text: 'Hello' }),
  alike: messagesAnswer({ text: 'Hello' }),
  chat: chatAnswer({ text: 'Hello' }),
  responses: responsesAnswer({ text: 'Hello' }),
};

let upstreams: Record<Kind, FakeUpstream>;
let gateway: TestGateway;

beforeAll(async () => {
  const opened = await Promise.all(KINDS.map(async (kind) => [kind, await openFakeUpstream()] as const));
  upstreams = Object.fromEntries(opened) as Record<Kind, FakeUpstream>;
  gateway = await openTestGateway(
    {
      providers: [
        { slug: 'anthropic', base_url: upstreams.anthropic.url },
        {
          slug: 'proxy',
          dialect: 'anthropic-messages',
          base_url: upstreams.proxy.url,
          takes: { system_turns: true, callers_version: true },
        },
        { slug: 'alike', name: 'Alike', dialect: 'anthropic-messages', base_url: upstreams.alike.url },
        { slug: 'chat', name: 'Chat', dialect: 'openai-chat', base_url: upstreams.chat.url },
        {
          slug: 'responses',
          name: 'Responses',
          dialect: 'openai-responses',
          base_url: upstreams.responses.url,
        },
      ],
      models: [
        ...KINDS.map((kind) => ({
          id: `${kind}/m`,
          input_modalities: ['text', 'image', 'file'],
          endpoints: [
            { provider: kind, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
          ],
        })),
        {
          id: 'both/m',
          endpoints: ['chat', 'anthropic'].map((provider) => ({ provider, model: 'm', pricing: {} })),
        },
      ],
    } as never,
    { env: { ANTHROPIC_API_KEY: 'sk-ant-test' } },
  );
});

beforeEach(() => {
  for (const kind of KINDS) upstreams[kind].clear();
  for (const kind of KINDS) upstreams[kind].answer(ANSWERS[kind]);
});

afterAll(async () => {
  await gateway.close();
  await Promise.all(KINDS.map((kind) => upstreams[kind].close()));
});

const HI = { role: 'user', content: 'Hi' };

/** Asks a model; gives the answer, what arrived upstream, and the report as `action field`. */
async function ask(kind: Kind, change: object, headers: Record<string, string> = {}) {
  const response = await gateway.post(
    '/messages',
    { model: `${kind}/m`, max_tokens: 4000, messages: [HI], ...change },
    { 'x-signalbox-metadata': 'enabled', ...headers },
  );
  const body = (await response.json()) as any;
  const entries: { action: string; field: string }[] = body.signalbox_metadata?.translation ?? [];
  const report = entries.map(({ action, field }) => `${action} ${field}`);
  const [sent] = upstreams[kind].requests;
  return { status: response.status, body, sent: sent?.json, headers: sent?.headers ?? {}, report };
}

/** Makes the request leave the relay lane. */
const TRANSLATED = { tools: [{ type: 'signalbox:datetime' }] };

describe('values that the gateway does not know', () => {
  const CASES: readonly (readonly [change: Record<string, any>, path: string, field: string])[] = [
    [{ thinking: { type: 'between_tools' } }, '', 'thinking'],
    [{ thinking: { type: 'daydream', depth: 3 } }, 'thinking.type', 'thinking'],
    [{ output_config: { effort: 'heroic' } }, 'output_config.effort', 'output_config'],
    [
      { context_management: { edits: [{ type: 'forget_20300101' }] } },
      'context_management.edits[0].type',
      'context_management',
    ],
    [{ fallbacks: 'default' }, '', 'fallbacks'],
    [
      { fallbacks: [{ model: 'claude-b', max_tokens: 9, output_config: { effort: 'low' } }] },
      '',
      'fallbacks',
    ],
  ];

  it.each(CASES)('%j goes on to an upstream of the same dialect', async (change, path) => {
    for (const more of [{}, TRANSLATED]) {
      upstreams.anthropic.clear();
      upstreams.anthropic.answer(ANSWERS.anthropic);
      const { status, sent, report } = await ask('anthropic', { ...change, ...more });
      expect(status).toBe(200);
      expect(sent).toMatchObject(change);
      if (path !== '') expect(report).toContain(`passed_on ${path}`);
      expect(report.filter((entry) => entry.startsWith('dropped'))).toEqual([]);
    }
  });

  it.each(CASES)(
    '%j is dropped with an entry where the dialect has no such thing',
    async (change, _, field) => {
      for (const kind of ['chat', 'responses'] as const) {
        const { status, report } = await ask(kind, change);
        expect(status).toBe(200);
        expect(report.some((entry) => entry.startsWith(`dropped ${field}`))).toBe(true);
      }
    },
  );

  it('passes parts of results on, and carries what a browser shows as text', async () => {
    const state = {
      type: 'browser_state',
      tabs: [{ tab_id: 't', title: 'Page', url: 'http://x', active: true }],
    };
    const messages = [
      HI,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'b', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [state] }] },
    ];
    const tools = [{ name: 'b', input_schema: { type: 'object' } }];
    expect((await ask('anthropic', { messages, tools })).sent.messages).toEqual(messages);
    for (const kind of ['chat', 'responses'] as const) {
      const { sent, report } = await ask(kind, { messages, tools });
      expect(JSON.stringify(sent)).toContain('http://x');
      expect(report).toEqual(['coerced messages[2].content[0].content[0]']);
    }
  });
});

describe('fallbacks', () => {
  it('of models alone are tried by the gateway', async () => {
    const { sent, report } = await ask('anthropic', { fallbacks: [{ model: 'chat/m' }] });
    expect(sent).not.toHaveProperty('fallbacks');
    expect(report).toEqual([]);
  });
});

describe('system turns inside the conversation', () => {
  const note = {
    role: 'system',
    content: [{ type: 'text', text: 'Be brief.' }],
    clear_at: 'next_user_message',
  };
  const messages = [HI, { role: 'assistant', content: 'Hello' }, HI, note];

  it.each(WITH_ALL)('go to %s as they are, in both lanes', async (kind) => {
    const relayed = await ask(kind, { messages });
    expect(relayed.sent.messages).toEqual(messages);
    expect(relayed.report).toEqual([]);
    upstreams[kind].clear();
    upstreams[kind].answer(ANSWERS[kind]);
    const { sent, report } = await ask(kind, { messages, ...TRANSLATED });
    expect(sent.messages.at(-1)).toEqual(note);
    expect(report).toEqual([]);
    upstreams[kind].clear();
    upstreams[kind].answer(ANSWERS[kind]);
    const first = await ask(kind, { messages: [note, HI], ...TRANSLATED });
    expect(first.sent.messages[0]).toEqual(note);
  });

  it('may hold settings alone', async () => {
    const settings = { output_config: { effort: 'low' }, clear_at: 'never' };
    for (const content of [{}, { content: [] }, { content: '' }]) {
      for (const kind of [...WITH_ALL, 'chat', 'responses'] as const) {
        for (const change of [{}, TRANSLATED]) {
          upstreams[kind].clear();
          upstreams[kind].answer(ANSWERS[kind]);
          const turn = { role: 'system', ...content, ...settings };
          const { sent, report } = await ask(kind, { messages: [HI, turn, HI], ...change });
          const turns = sent.messages ?? sent.input;
          if (kind === 'chat' || kind === 'responses') {
            expect(turns.map(({ role }: any) => role)).toEqual(['user', 'user']);
            expect(report).toEqual(['dropped messages[1].output_config', 'dropped messages[1].clear_at']);
          } else {
            expect(turns[1]).toMatchObject({ role: 'system', ...settings });
            expect(report).toEqual([]);
          }
        }
      }
    }
  });

  it('keep their authority in other dialects', async () => {
    const { sent, report } = await ask('chat', { messages });
    expect(sent.messages.at(-1)).toMatchObject({ role: 'system' });
    expect(report).toEqual(['dropped messages[3].clear_at']);
    const given = await ask('responses', { messages });
    expect(given.sent.input.at(-1)).toMatchObject({ role: expect.stringMatching(/system|developer/) });
  });

  it('become user text elsewhere, which the report says', async () => {
    for (const change of [{ messages }, { messages, ...TRANSLATED }]) {
      upstreams.alike.clear();
      upstreams.alike.answer(ANSWERS.alike);
      const { sent, report } = await ask('alike', change);
      expect(sent.messages.at(-1).role).toBe('user');
      expect(report).toEqual(expect.arrayContaining(['coerced messages[3]', 'dropped messages[3].clear_at']));
    }
  });
});

describe('versions of the format', () => {
  const NEWER = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'some-beta-2026-01-01' };

  it.each(WITH_ALL)('go to %s as the caller names them', async (kind) => {
    const { headers } = await ask(kind, {}, NEWER);
    expect(headers).toMatchObject(NEWER);
    upstreams[kind].clear();
    upstreams[kind].answer(ANSWERS[kind]);
    expect((await ask(kind, { speed: 'fast' }, NEWER)).headers['anthropic-version']).toBe('2026-10-21');
    for (const version of [undefined, 'latest']) {
      upstreams[kind].clear();
      upstreams[kind].answer(ANSWERS[kind]);
      const { status, headers } = await ask(kind, {}, version ? { 'anthropic-version': version } : {});
      expect([status, headers['anthropic-version']]).toEqual([200, '2023-06-01']);
    }
  });

  it('are the usual one elsewhere, which the report says', async () => {
    const { headers, report } = await ask('alike', {}, NEWER);
    expect(headers['anthropic-version']).toBe('2023-06-01');
    expect(report).toEqual(['coerced anthropic-version']);
    expect((await ask('alike', {}, { 'anthropic-version': '2023-06-01' })).report).toEqual([]);
  });
});

describe('region and container of the upstream', () => {
  const given = { inference_geo: 'us', container: { id: 'container_1' } };

  it.each([{}, TRANSLATED])('go on to an upstream of the same dialect, with %j', async (more) => {
    const { sent, report } = await ask('alike', { ...given, ...more });
    expect(sent).toMatchObject(given);
    expect(report).toEqual([]);
  });

  it.each(['chat', 'responses'] as const)('are no fields of %s, which the report says', async (kind) => {
    const { sent, report } = await ask(kind, given);
    expect(sent).not.toHaveProperty('inference_geo');
    expect(report).toEqual(expect.arrayContaining(['dropped inference_geo', 'dropped container']));
  });
});

describe('a budget for thoughts beyond the output limit', () => {
  const tools = [{ name: 'b', input_schema: { type: 'object' } }];
  const change = { max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 3000 }, tools };
  const interleaved = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

  it('is sent as it is with interleaved thinking and tools', async () => {
    expect((await ask('anthropic', change)).status).toBe(422);
    expect((await ask('anthropic', { ...change, tools: [] }, interleaved)).status).toBe(422);
    for (const more of [{}, { tools: [...tools, ...TRANSLATED.tools] }]) {
      upstreams.anthropic.clear();
      upstreams.anthropic.answer(ANSWERS.anthropic);
      const { sent, report } = await ask('anthropic', { ...change, ...more }, interleaved);
      expect(sent).toMatchObject({ max_tokens: 3000, thinking: { budget_tokens: 3000 } });
      expect(report).toEqual([]);
    }
  });

  it('is lowered for other families', async () => {
    const { status, report } = await ask('chat', change, interleaved);
    expect(status).toBe(200);
    expect(report).toContain('coerced thinking.budget_tokens');
  });
});

describe('tools of today', () => {
  it('that remember are functions for other families, and calls come back', async () => {
    const call = { command: 'view', path: '/memories' };
    upstreams.chat.clear();
    upstreams.chat.answer(chatAnswer({ tools: [{ name: 'memory', arguments: JSON.stringify(call) }] }));
    const tools = [{ type: 'memory_20250818', name: 'memory' }];
    const { sent, body, report } = await ask('chat', { tools });
    expect(sent.tools[0]).toMatchObject({ type: 'function', function: { name: 'memory' } });
    expect(body.content[0]).toMatchObject({ type: 'tool_use', name: 'memory', input: call });
    expect(body.stop_reason).toBe('tool_use');
    expect(report).toEqual(['coerced tools[0]']);
    expect((await ask('anthropic', { tools })).sent.tools).toEqual(tools);
  });
});

describe('safeguards', () => {
  const safeguards = { classifier: { tools: 'all' } };
  const safeguard_results = [{ type: 'classifier', status: { type: 'completed', calls: [] } }];
  const checked: Script = (request) => {
    if (request.json?.stream !== true) {
      return [
        head(200, JSON_TYPE),
        write(JSON.stringify({ ...messagesBody({ text: 'Hi' }), safeguard_results })),
        end(),
      ];
    }
    const frames = messagesFrames({ text: 'Hi' }).map(({ event, data }) => {
      const { delta, ...rest } = data as { delta: object };
      return {
        event,
        data: event === 'message_delta' ? { ...rest, delta: { ...delta, safeguard_results } } : data,
      };
    });
    return [head(200, SSE), write(sse(frames as never)), end()];
  };

  it('go to upstreams of the dialect, and results come back, in both lanes', async () => {
    for (const more of [{}, TRANSLATED]) {
      upstreams.anthropic.clear();
      upstreams.anthropic.answer(checked);
      const { sent, body } = await ask('anthropic', { safeguards, ...more });
      expect(sent.safeguards).toEqual(safeguards);
      expect(body.safeguard_results).toEqual(safeguard_results);
      const response = await gateway.post('/messages', {
        model: 'anthropic/m',
        max_tokens: 10,
        messages: [HI],
        safeguards,
        stream: true,
        ...more,
      });
      const events = await readEvents(response);
      const end = events.find(({ data }) => data.type === 'message_delta')?.data;
      expect(end.delta.safeguard_results).toEqual(safeguard_results);
    }
  });

  it('are refused by name where their loss would be silent', async () => {
    for (const kind of ['chat', 'responses'] as const) {
      const { status, body, sent } = await ask(kind, { safeguards });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({
        type: 'invalid_request_error',
        message: expect.stringContaining('safeguards'),
      });
      expect(sent).toBeUndefined();
    }
  });

  it('choose an endpoint that takes them', async () => {
    const response = await gateway.post('/messages', {
      model: 'both/m',
      max_tokens: 10,
      messages: [HI],
      safeguards,
      provider: { order: ['chat'] },
    });
    expect(response.status).toBe(200);
    expect([upstreams.chat.requests.length, upstreams.anthropic.requests.length]).toEqual([0, 1]);
  });
});

describe('an answer that its upstream has not finished (pause_turn)', () => {
  it('does not look whole to callers of other formats', async () => {
    const paused = { ...messagesBody({ text: 'Half' }), stop_reason: 'pause_turn' };
    upstreams.anthropic.clear();
    upstreams.anthropic.answer([head(200, JSON_TYPE), write(JSON.stringify(paused)), end()]);
    const ask = async (path: string, body: object) =>
      (await (await gateway.post(path, { model: 'anthropic/m', ...body })).json()) as any;
    const chat = await ask('/chat/completions', { messages: [HI] });
    expect(chat.choices[0]).toMatchObject({ finish_reason: 'length', native_finish_reason: 'pause_turn' });
    const response = await ask('/responses', { input: 'Hi' });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect((await ask('/messages', { messages: [HI], max_tokens: 9 })).stop_reason).toBe('pause_turn');
  });
});
