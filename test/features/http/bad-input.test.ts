import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      { id: 'acme/large', endpoints: [{ provider: 'acme', model: 'large' }] },
      { id: 'acme/embed', output_modalities: ['embeddings'], endpoints: [{ provider: 'acme' }] },
    ],
    prompts: { greet: { instructions: 'Greet {{name}}', input: 'Hello {{name}}' } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

type Case = [body: object, status: number, path: string];

const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };
const plugin = (value: object) => ({ plugins: [value] });
const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

/** Wrong fields that embeddings have too. */
const ROUTING: Case[] = [
  [{ provider: { surprise: 1 } }, 400, 'provider.surprise'],
  [{ provider: { order: 'acme' } }, 400, 'provider.order'],
  [{ provider: { data_collection: 'maybe' } }, 400, 'provider.data_collection'],
  [{ provider: { quantizations: ['int3'] } }, 400, 'provider.quantizations[0]'],
  [{ provider: { sort: 'beauty' } }, 400, 'provider.sort'],
  [{ provider: { sort: { by: 'price', partition: 'some' } } }, 400, 'provider.sort'],
  [{ provider: { max_price: { prompt: -1 } } }, 400, 'provider.max_price.prompt'],
  [{ provider: { base_url: 'http://127.0.0.1:1' } }, 400, 'provider.base_url'],
  [{ route: 'somewhere' }, 400, 'route'],
  [{ session_id: 'x'.repeat(257) }, 400, 'session_id'],
  [{ user: 'x'.repeat(257) }, 400, 'user'],
  [{ models: 'acme/large' }, 400, 'models'],
  [{ models: [''] }, 400, 'models[0]'],
  [{ trace: { trace_id: 1 } }, 400, 'trace.trace_id'],
];

/** Wrong fields that the three formats of conversations share. */
const SHARED: Case[] = [
  ...ROUTING,
  [{ temperature: 'hot' }, 400, 'temperature'],
  [{ top_p: 1.5 }, 400, 'top_p'],
  [{ top_k: -1 }, 400, 'top_k'],
  [{ top_k: 1.5 }, 400, 'top_k'],
  [{ stream: 'yes' }, 400, 'stream'],
  [{ stop_server_tools_when: [] }, 400, 'stop_server_tools_when'],
  [{ stop_server_tools_when: [{ type: 'step_count_is' }] }, 400, 'stop_server_tools_when[0].step_count'],
  [
    { stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: -1 }] },
    400,
    'stop_server_tools_when[0].max_cost_in_dollars',
  ],
  [{ stop_server_tools_when: [{ type: 'never' }] }, 400, 'stop_server_tools_when[0].type'],
  [{ cache_control: { type: 'eternal' } }, 400, 'cache_control.type'],
  [plugin({}), 400, 'plugins[0].id'],
  [plugin({ id: 'magic' }), 400, 'plugins[0].id'],
  [plugin({ id: 'web', enabled: 'yes' }), 400, 'plugins[0].enabled'],
  [plugin({ id: 'web', surprise: 1 }), 400, 'plugins[0].surprise'],
  [plugin({ id: 'web', max_results: 26 }), 400, 'plugins[0].max_results'],
  [plugin({ id: 'web', max_results: 0 }), 400, 'plugins[0].max_results'],
  [plugin({ id: 'web', user_location: { city: 'x' } }), 400, 'plugins[0].user_location.type'],
  [plugin({ id: 'auto-router', cost_quality_tradeoff: 11 }), 400, 'plugins[0].cost_quality_tradeoff'],
  [plugin({ id: 'auto-router', cost_quality_tradeoff: 1.5 }), 400, 'plugins[0].cost_quality_tradeoff'],
  [plugin({ id: 'auto-router', allowed_models: 'a/*' }), 400, 'plugins[0].allowed_models'],
  [
    plugin({ id: 'auto-router', enabled: false, allowed_models: Array(65).fill('a'.repeat(1024)) }),
    400,
    'plugins[0].allowed_models: must have at most 65536 characters',
  ],
  [plugin({ id: 'pareto-router', min_coding_score: 1.01 }), 400, 'plugins[0].min_coding_score'],
  [plugin({ id: 'pareto-router', price_source: 'guess' }), 400, 'plugins[0].price_source'],
  [plugin({ id: 'context-compression', engine: 'zip' }), 400, 'plugins[0].engine'],
  [plugin({ id: 'file-parser', pdf: { engine: 'eyes' } }), 400, 'plugins[0].pdf.engine'],
  [plugin({ id: 'fusion', analysis_models: [] }), 400, 'plugins[0].analysis_models'],
  [plugin({ id: 'fusion', analysis_models: Array(9).fill('a/b') }), 400, 'plugins[0].analysis_models'],
  [plugin({ id: 'fusion', max_tool_calls: 17 }), 400, 'plugins[0].max_tool_calls'],
  [plugin({ id: 'fusion', preset: 'general-slow' }), 400, 'plugins[0].preset'],
  [plugin({ id: 'fusion', tools: Array(9).fill({ type: 'x' }) }), 400, 'plugins[0].tools'],
  [plugin({ id: 'moderation', enabled: 'no' }), 400, 'plugins[0].enabled'],
  [plugin({ id: 'moderation', surprise: 1 }), 400, 'plugins[0].surprise'],
  [plugin({ id: 'moderation', enabled: true }), 400, 'plugins[0].id'],
  [plugin({ id: 'response-healing', enabled: 1 }), 400, 'plugins[0].enabled'],
  [plugin({ id: 'web-fetch', max_content_tokens: 'many' }), 400, 'plugins[0].max_content_tokens'],
  [plugin({ id: 'fusion', tools: [{ type: 'signalbox:fusion' }] }), 400, 'plugins[0].tools[0].type'],
  [plugin({ id: 'fusion', analysis_models: ['signalbox/fusion'] }), 400, 'plugins[0].analysis_models[0]'],
  [plugin({ id: 'web' }), 400, 'plugins[0].engine'],
  [plugin({ id: 'web', engine: 'exa' }), 400, 'plugins[0].engine'],
];

const RESPONSES: Case[] = [
  ...SHARED,
  [{ model: undefined }, 400, 'model'],
  [{ model: 7 }, 400, 'model'],
  [{ input: undefined }, 400, 'input'],
  [{ input: '' }, 400, 'input'],
  [{ input: [] }, 400, 'input'],
  [{ input: 7 }, 400, 'input'],
  [{ input: [{ role: 'wizard', content: 'x' }] }, 400, 'input[0].role'],
  [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 400, 'input[0].call_id'],
  [{ input: [{ type: 'function_call_output', call_id: 'c' }] }, 400, 'input[0].output'],
  [{ input: [{ type: 'reasoning', summary: 'x', id: 'r' }] }, 400, 'input[0].summary'],
  [{ input: [{ type: 'item_reference', id: 'x' }] }, 400, 'input[0]'],
  [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 400, 'input[0].content[0].text'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,' }] }] },
    400,
    'input[0].content[0].image_url: holds no image',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'notaurl' }] }] },
    400,
    'input[0].content[0].image_url: must be an address',
  ],
  [{ background: true }, 400, 'background'],
  [{ store: true }, 400, 'store'],
  [{ previous_response_id: 'resp_1' }, 400, 'previous_response_id'],
  [{ max_output_tokens: 0 }, 400, 'max_output_tokens'],
  [{ max_output_tokens: 1.5 }, 400, 'max_output_tokens'],
  [{ max_output_tokens: '10' }, 400, 'max_output_tokens'],
  [{ max_output_tokens: 1e308 }, 400, 'max_output_tokens'],
  [{ temperature: 2.1 }, 400, 'temperature'],
  [{ frequency_penalty: -2.1 }, 400, 'frequency_penalty'],
  [{ presence_penalty: 3 }, 400, 'presence_penalty'],
  [{ top_logprobs: 21 }, 400, 'top_logprobs'],
  [{ modalities: [1] }, 400, 'modalities[0]'],
  [{ truncation: 1 }, 400, 'truncation'],
  [{ metadata: pairs(17) }, 400, 'metadata'],
  [{ metadata: { ['k'.repeat(65)]: 'v' } }, 400, 'metadata'],
  [{ metadata: { 'a[b]': 'v' } }, 400, 'metadata'],
  [{ metadata: { k: 'v'.repeat(513) } }, 400, 'metadata.k'],
  [{ metadata: { k: 1 } }, 400, 'metadata.k'],
  [{ image_config: { size: true } }, 400, 'image_config.size'],
  [{ reasoning: { effort: 1 } }, 400, 'reasoning.effort'],
  [{ reasoning: { max_tokens: 100 }, max_output_tokens: 50 }, 422, 'reasoning.max_tokens'],
  [{ text: { format: { type: 'json_schema', name: 'x' } } }, 400, 'text.format.schema'],
  [{ tools: [{ type: 'function' }] }, 400, 'tools[0].name'],
  [{ tools: [{ name: 'x' }] }, 400, 'tools[0].type'],
  [{ tools: [{ type: 'signalbox:web_search' }] }, 400, 'tools[0].type'],
  [{ tools: [{ type: 'computer_use_preview', display_height: 1 }] }, 400, 'tools[0].display_width'],
  [{ tools: [tool], tool_choice: 1 }, 400, 'tool_choice'],
  [{ tools: [tool], tool_choice: { type: 'function', name: 'g' } }, 422, 'tool_choice'],
  [{ debug: { echo_upstream_body: 1 } }, 400, 'debug.echo_upstream_body'],
  [{ prompt: { variables: {} } }, 400, 'prompt.id'],
  [{ prompt: { id: 'nobody' } }, 404, 'prompt'],
  [{ prompt: { id: 'greet' } }, 422, 'prompt'],
];

const MESSAGES: Case[] = [
  ...SHARED,
  [{ model: undefined }, 400, 'model'],
  [{ messages: undefined }, 400, 'messages'],
  [{ messages: [] }, 400, 'messages'],
  [{ messages: null }, 400, 'messages'],
  [{ messages: [{ role: 'narrator', content: 'x' }] }, 400, 'messages[0].role'],
  [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 400, 'messages[0].content[0].text'],
  [
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: '' } }],
        },
      ],
    },
    400,
    'messages[0].content[0].source.data',
  ],
  [
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'a cat' } }],
        },
      ],
    },
    400,
    'messages[0].content[0].source.data: is no valid base64',
  ],
  [
    { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
    400,
    'messages[0].content[0].tool_use_id',
  ],
  [{ max_tokens: 0 }, 400, 'max_tokens'],
  [{ max_tokens: 'many' }, 400, 'max_tokens'],
  [{ fallbacks: [{ model: 'a' }, { model: 'b' }, { model: 'c' }, { model: 'd' }] }, 400, 'fallbacks'],
  [{ fallbacks: [{ model: 'acme/large' }], models: ['acme/large'] }, 400, 'fallbacks'],
  [{ speed: 'ludicrous' }, 400, 'speed'],
  [{ stop_sequences: 'x' }, 400, 'stop_sequences'],
  [{ thinking: { type: 'enabled' } }, 400, 'thinking.budget_tokens'],
  [{ thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 1500 }, 422, 'thinking.budget_tokens'],
  [{ tool_choice: { type: 'tool' } }, 400, 'tool_choice.name'],
  [{ tool_choice: { type: 'tool', name: 'g' } }, 422, 'tool_choice'],
  [{ metadata: { user_id: 7 } }, 400, 'metadata.user_id'],
  [{ tools: [{ name: 'x' }] }, 400, 'tools[0].input_schema'],
  [{ thread: { type: 'continue', previous_message_id: 'msg_1' } }, 400, 'thread'],
];

const CHAT: Case[] = [
  ...SHARED,
  [{ model: undefined }, 400, 'model'],
  [{ messages: [] }, 400, 'messages'],
  [{ messages: [{ role: 'narrator', content: 'x' }] }, 400, 'messages[0].role'],
  [{ messages: [{ role: 'tool', content: 'x' }] }, 400, 'messages[0].tool_call_id'],
  [
    { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    400,
    'messages[0].content[0].image_url',
  ],
  [
    {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'ftp://a.example/' } }] }],
    },
    400,
    'messages[0].content[0].image_url.url: must be an address',
  ],
  [{ messages: [{ role: 'user', content: '' }] }, 400, 'messages[0].content: must not be empty'],
  [{ max_tokens: -1 }, 400, 'max_tokens'],
  [{ max_completion_tokens: 0 }, 400, 'max_completion_tokens'],
  [{ n: 2 }, 400, 'n'],
  [{ best_of: 2 }, 400, 'best_of'],
  [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 400, 'stop'],
  [{ top_logprobs: 21, logprobs: true }, 400, 'top_logprobs'],
  [{ response_format: { type: 7 } }, 400, 'response_format.type'],
  [{ tools: [{ type: 'function', function: {} }] }, 400, 'tools[0].function.name'],
  [{ tool_choice: { type: 'function', function: { name: 'g' } } }, 422, 'tool_choice'],
];

const EMBEDDINGS: Case[] = [
  ...ROUTING,
  [{ model: undefined }, 400, 'model'],
  [{ input: undefined }, 400, 'input'],
  [{ input: '' }, 400, 'input'],
  [{ input: [] }, 400, 'input'],
  [{ input: [null] }, 400, 'input'],
  [{ input: ['a', ''] }, 400, 'input[1]'],
  [{ input: [[1], []] }, 400, 'input[1]'],
  [{ input: Array(2049).fill('a') }, 400, 'input: must have at most 2048 entries'],
  [{ dimensions: 0 }, 400, 'dimensions'],
  [{ encoding_format: 'hex' }, 400, 'encoding_format'],
  [{ input_type: '' }, 400, 'input_type'],
  [{ stream: true }, 400, 'stream'],
];

/** Fields for the gateway that embeddings do not have: whatever they hold, they have no effect. */
const FOREIGN_TO_EMBEDDINGS: object[] = [
  { plugins: [null] },
  { plugins: [5] },
  { plugins: 'x' },
  { plugins: [{ id: 'response-healing' }, { id: 'response-healing' }] },
  { stop_server_tools_when: [null] },
  { stop_server_tools_when: 'never' },
];

const switchedOff = (id: string) => ({ id, enabled: false });

const FORMATS: [string, string, object, Case[]][] = [
  ['responses', '/responses', { model: 'acme/large', input: 'Hello' }, RESPONSES],
  [
    'messages',
    '/messages',
    { model: 'acme/large', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
    MESSAGES,
  ],
  [
    'chat',
    '/chat/completions',
    { model: 'acme/large', messages: [{ role: 'user', content: 'Hello' }] },
    CHAT,
  ],
];

describe.each([
  ...FORMATS,
  ['embeddings', '/embeddings', { model: 'acme/embed', input: 'Hello' }, EMBEDDINGS] as const,
])('a wrong field of the %s format', (_, path, base, cases) => {
  it.each(cases)('%j is %i at %s', async (change, status, where) => {
    const before = upstream.requests.length;
    const response = await gateway.post(path, { ...base, ...change });
    const body = (await response.json()) as { error: { code: number; message: string } };
    expect({ status: response.status, message: body.error.message }).toEqual({
      status,
      message: expect.stringContaining(where),
    });
    expect(body.error.code).toBe(status);
    expect(upstream.requests.length).toBe(before);
  });

  it('refuses what is no JSON, the wrong type, an unknown model', async () => {
    const broken = await gateway.post(path, '{"model": ');
    expect(broken.status).toBe(400);
    const typed = await gateway.post(path, base, { 'content-type': 'text/plain' });
    expect(typed.status).toBe(415);
    const unknown = await gateway.post(path, { ...base, model: 'no/such-model' });
    expect(unknown.status).toBe(400);
    expect(((await unknown.json()) as any).error.message).toBe('no/such-model is not a valid model ID');
    for (const value of ['[]', '"x"', 'null', '7']) {
      const response = await gateway.post(path, value);
      expect(response.status).toBe(400);
    }
  });
});

describe.each(FORMATS)('a field of the %s format', (_, path, base) => {
  it('takes null for absent, and what it does not know', async () => {
    const changes = {
      temperature: null,
      provider: null,
      plugins: null,
      user: null,
      trace: null,
      client_metadata: { a: 1 },
    };
    const response = await gateway.post(path, {
      ...base,
      ...changes,
      plugins: [
        { id: 'auto-router', enabled: false, allowed_models: Array(64).fill('a'.repeat(1024)) },
        ...['context-compression', 'file-parser', 'fusion', 'moderation', 'pareto-router'].map(switchedOff),
        ...['response-healing', 'web', 'web-fetch'].map(switchedOff),
      ],
    });
    const body = (await response.json()) as { error?: { message: string } };
    // The fake upstream has no script for this request: what matters is that it was asked.
    expect(body.error?.message ?? '').not.toMatch(/temperature|provider\.|plugins|client_metadata/);
    expect(upstream.requests.length).toBeGreaterThan(0);
  });
});

it.each(FOREIGN_TO_EMBEDDINGS)('embeddings go out without %j', async (change) => {
  const answer = { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } };
  upstream.clear();
  upstream.answer(reply(200, answer));
  const response = await gateway.post('/embeddings', { model: 'acme/embed', input: 'Hello', ...change });
  expect(response.status).toBe(200);
  expect(upstream.requests).toHaveLength(1);
  for (const name of Object.keys(change)) expect(upstream.requests[0]?.json).not.toHaveProperty(name);
});
