import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../../src/kit/json/json.ts';
import { runs } from '../../../kit/builders/runs.ts';
import { sse } from '../../../kit/fakes/answers.ts';
import { end, head, JSON_TYPE, type Script, SSE, write } from '../../../kit/fakes/fake-upstream.ts';
import { chatAnswer } from '../../../laws/matrix/answers/chat.ts';
import { messagesAnswer } from '../../../laws/matrix/answers/messages.ts';
import { responsesAnswer, said } from '../../../laws/matrix/answers/responses.ts';
import type { WireAnswer } from '../../../laws/matrix/answers/wire-answer.ts';
import type { Path } from '../plugins/formats.ts';
import { ANSWERS as DIALECTS, type GuardedGateway, openGuardedGateway } from './guarded-gateway.ts';

/** A text that guardrails block or redact passes in no value and in no name of a member, known or not. */

let guarded: GuardedGateway;
const keys: Record<string, string> = {};

beforeAll(async () => {
  guarded = await openGuardedGateway({
    models: Object.keys(DIALECTS).map((provider) => ({
      id: `all/${provider}`,
      input_modalities: ['text', 'image', 'file', 'audio'],
      endpoints: [{ provider, model: 'one' }],
    })),
  });
  for (const action of ['block', 'redact'] as const) {
    keys[action] = await guarded.guard({
      content_filters: [{ pattern: 'ORION-[0-9]+', action, label: 'PROJECT' }],
      content_filter_builtins: [{ slug: 'ssn', action }],
    });
  }
});
afterAll(() => guarded.close());

/** What is planted: a match of a pattern of one's own, one of a filter that the gateway brings along, and both. */
const PLANTS = [
  { text: 'ORION-42', action: 'block' },
  { text: '457-55-5462', action: 'block' },
  { text: '457-55-5462/ORION-42', action: 'redact' },
] as const;

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo'], default: 'Oslo' } },
  required: ['city'],
};
const IMAGE = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const IMAGE_URL = 'data:image/png;base64,iVBORw0KGgo=';
const CACHED = { type: 'ephemeral', ttl: '1h' };
const MADE_UP = { type: 'made_up', word: 'Oslo', inner: { id: 'x1', list: ['Rome', { status: 'new' }] } };

/** A body with all kinds of places, in each format: its strings are replaced, and its objects get members. */
const BODIES: Readonly<Record<Path, JsonObject>> = {
  '/messages': {
    model: 'all/anthropic-messages',
    max_tokens: 2000,
    cache_control: CACHED,
    system: [{ type: 'text', text: 'Be short.', cache_control: CACHED }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.', citations: null, cache_control: CACHED },
          { type: 'image', source: IMAGE, cache_control: CACHED },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'Prose.' },
            title: 'A',
            context: 'B',
            citations: { enabled: true },
          },
          {
            type: 'search_result',
            source: 'https://a.test',
            title: 'A',
            content: [{ type: 'text', text: 'B' }],
          },
          MADE_UP,
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Well.' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Oslo' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: [
              { type: 'web_search_result', url: 'https://a.test', title: 'A', encrypted_content: 'c2VhbA==' },
            ],
          },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'Rain' }, { type: 'image', source: IMAGE }, MADE_UP],
          },
        ],
      },
    ],
    tools: [
      { name: 'weather', description: 'Tells it.', input_schema: SCHEMA, cache_control: CACHED },
      { type: 'made_up_20990101', name: 'new_tool', setting: { level: 'high' } },
    ],
    tool_choice: { type: 'auto' },
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'high', format: { type: 'json_schema', schema: SCHEMA } },
    context_management: {
      edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 } }],
    },
    metadata: { user_id: 'u1' },
    stop_sequences: ['END'],
    service_tier: 'auto',
    new_field: { word: 'Oslo' },
  },
  '/responses': {
    model: 'all/openai-responses',
    instructions: 'Be short.',
    input: [
      {
        type: 'message',
        role: 'user',
        phase: 'commentary',
        content: [
          { type: 'input_text', text: 'Look.' },
          { type: 'input_image', image_url: IMAGE_URL, detail: 'low' },
          { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SGVsbG8gdGhlcmU=' },
          { type: 'input_audio', input_audio: { data: 'SUQzBAAA', format: 'mp3' } },
          MADE_UP,
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], format: 'unknown' },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'Oslo', sources: [{ type: 'url', url: 'https://a.test' }] },
      },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'weather',
        arguments: '{"city":"Oslo"}',
        status: 'completed',
      },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'Rain' }] },
      MADE_UP,
    ],
    tools: [
      { type: 'function', name: 'weather', description: 'Tells it.', parameters: SCHEMA, strict: false },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
      },
      { type: 'made_up', name: 'new_tool', setting: { level: 'high' } },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
    reasoning: { effort: 'low', summary: 'auto' },
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'place', schema: SCHEMA } },
    metadata: { team: 'Oslo' },
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'k1',
    safety_identifier: 's1',
    service_tier: 'auto',
    new_field: { word: 'Oslo' },
  },
  '/chat/completions': {
    model: 'all/openai-chat',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be short.' }] },
      {
        role: 'user',
        name: 'Ada',
        content: [
          { type: 'text', text: 'Look.', cache_control: CACHED },
          { type: 'image_url', image_url: { url: IMAGE_URL, detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'SUQzBAAA', format: 'mp3' } },
          { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,SGVsbG8gdGhlcmU=' } },
          MADE_UP,
        ],
      },
      {
        role: 'assistant',
        content: 'Well.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', format: 'unknown' }, MADE_UP],
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Rain' }] },
    ],
    tools: [
      { type: 'function', function: { name: 'weather', description: 'Tells it.', parameters: SCHEMA } },
    ],
    tool_choice: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
    logit_bias: { '50256': -1 },
    stop: ['END'],
    metadata: { team: 'Oslo' },
    reasoning_effort: 'low',
    verbosity: 'low',
    service_tier: 'auto',
    new_field: { word: 'Oslo' },
  },
};

/** The value with a text in one more place each: as each string, and as and under a new name in each object. */
function* planted(
  value: Json,
  text: string,
  path = '',
): Generator<{ readonly path: string; readonly value: Json }> {
  if (typeof value === 'string') yield { path, value: text };
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      for (const inner of planted(each as Json, text, `${path}[${index}]`)) {
        yield { path: inner.path, value: value.with(index, inner.value) };
      }
    }
  } else if (isJsonObject(value)) {
    yield { path: `${path}.<name>`, value: { ...value, [text]: true } };
    const added = { [text]: { type: 'text', n: 1 }, list: [{ type: text, id: text, data: text }] };
    yield { path: `${path}.new_member`, value: { ...value, new_member: added } };
    for (const [name, each] of Object.entries(value)) {
      for (const inner of planted(each as Json, text, `${path}.${name}`)) {
        yield { path: inner.path, value: { ...value, [name]: inner.value } };
      }
    }
  }
}

/** Ids that have letters are no texts. */
const ID = /(?:id|signature)$/;

const isId = (path: string, text: string) => ID.test(path) && /[A-Za-z]/.test(text);

const ANSWERS: Readonly<Record<Path, (output: JsonObject) => WireAnswer>> = {
  '/chat/completions': (message) => chatAnswer(message),
  '/responses': ({ items }) => responsesAnswer(items as JsonObject[]),
  '/messages': ({ blocks }) => messagesAnswer(blocks as JsonObject[]),
};

const OUTPUTS: Readonly<Record<Path, JsonObject>> = {
  '/chat/completions': {
    content: 'Well.',
    annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.test', title: 'A' } }],
    images: [{ type: 'image_url', image_url: { url: IMAGE_URL } }],
  },
  '/responses': {
    items: [
      { type: 'web_search_call', action: { type: 'search', query: 'Oslo' } },
      MADE_UP,
      said('Well.', { annotations: [MADE_UP, { type: 'file_path', file_id: 'f1', index: 0 }] }),
    ],
  },
  '/messages': {
    blocks: [
      { type: 'text', text: 'Well.' },
      {
        type: 'web_fetch_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: { type: 'web_fetch_result', url: 'https://a.test' },
      },
      MADE_UP,
    ],
  },
};

function serving({ body, frames }: WireAnswer): Script {
  return ({ json }) =>
    json?.stream === true
      ? [head(200, SSE), write(sse(frames as never)), end()]
      : [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
}

const ROWS = (Object.keys(BODIES) as Path[]).flatMap((path) => PLANTS.map((plant) => ({ path, ...plant })));

/** In the suite each place has one of the plants; in `npm run test:laws` all of them. */
const SHARE = runs(PLANTS.length, 1);

/** The places of a body that have the plant, each with the body that has it there. */
function placesOf(body: JsonObject, text: string) {
  const offset = PLANTS.findIndex((plant) => plant.text === text);
  return [...planted(body, text)].filter((_, index) => (index + offset) % SHARE === 0);
}

/** The texts that must not be found. */
const partsOf = (text: string) => text.split('/');

describe.each(ROWS)('$text on $path under a guardrail that says $action', ({ path, text, action }) => {
  const key = () => keys[action] ?? '';
  const plain = () => serving(ANSWERS[path]({ ...OUTPUTS[path] }));

  it('lets the rest pass', async () => {
    guarded.upstream.clear();
    guarded.upstream.answer(plain());
    const reply = await guarded.ask(key(), path, BODIES[path]);
    expect(reply.status, reply.text).toBe(200);
  });

  it('does not go upstream, wherever it stands in a request', { timeout: 120_000 }, async () => {
    const statuses = new Map<number, number>();
    for (const { path: place, value } of placesOf(BODIES[path], text)) {
      if (isId(place, text)) continue;
      guarded.upstream.clear();
      guarded.upstream.answer(plain());
      const reply = await guarded.ask(key(), path, value as JsonObject);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      expect([200, 400, 403, 404, 422], `${place}: ${reply.text}`).toContain(reply.status);
      const sent = guarded.upstream.requests.map(({ body }) => body).join();
      for (const part of partsOf(text)) expect(sent, place).not.toContain(part);
      if (reply.status === 200) expect(guarded.upstream.requests[0]?.json, place).toBeDefined();
    }
    // Most places are not refused for another reason.
    expect(statuses.get(action === 'block' ? 403 : 200) ?? 0).toBeGreaterThan(30 / SHARE);
  });

  it.each([false, true])(
    'does not come back, wherever it stands in an answer, stream %s',
    { timeout: 120_000 },
    async (stream) => {
      const body = { ...BODIES[path], stream };
      for (const { path: place, value } of placesOf(OUTPUTS[path], text)) {
        if (isId(place, text)) continue;
        guarded.upstream.clear();
        guarded.upstream.answer(serving(ANSWERS[path](value as JsonObject)));
        const reply = await guarded.ask(key(), path, body);
        for (const part of partsOf(text)) expect(reply.text, place).not.toContain(part);
      }
    },
  );
});
