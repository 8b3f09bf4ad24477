import { describe, expect, it } from 'vitest';
import type { Format } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { chat } from '../chat/index.ts';
import type { RenderTarget } from '../dialect.ts';
import { responses } from '../responses/index.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { messages } from './index.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

/** Everything a caller can say to a messages upstream arrives, or is in the report at the place where it was said. */

const TARGET: RenderTarget = { model: 'm', hashUser: (id) => `hash(${id})` };
const INBOUND = { responses: responses.inbound, messages: messages.inbound, chat: chat.inbound };
const LEAST: Readonly<Record<Format, JsonObject>> = {
  responses: { model: 'a/b', input: 'Hi' },
  messages: { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }] },
  chat: { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }] },
};

function parsed(format: Format, fields: JsonObject): GenerationRequest {
  return INBOUND[format].parseRequest({ ...LEAST[format], ...fields }, { vendor: 'acme' });
}

function reported(rendered: ReturnType<typeof renderRequest>): string[] {
  return rendered.report.map(({ field, action }) => `${field} ${action}`).sort();
}

/** Request, report entries, and the rendered body. */
type Row = readonly [fields: JsonObject, report: readonly string[], arrives?: JsonObject];

const f: JsonObject = { type: 'function', name: 'f', parameters: { type: 'object' } };
const mark: JsonObject = { type: 'ephemeral' };
const PNG = 'data:image/png;base64,AAAA';
const NATIVE_PNG: JsonObject = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
const schema: JsonObject = { type: 'object' };

/** Content of one user message, and what it becomes. */
const asked = (...content: JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
const said = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });

const RESPONSES: readonly Row[] = [
  // Settings
  [{ temperature: 0.1, top_p: 0.2, top_k: 3 }, [], { temperature: 0.1, top_p: 0.2, top_k: 3 }],
  [{ temperature: 1.5 }, ['temperature coerced'], { temperature: 1 }],
  [
    { frequency_penalty: 1, presence_penalty: 1, top_logprobs: 2 },
    ['frequency_penalty dropped', 'presence_penalty dropped', 'top_logprobs dropped'],
  ],
  [{ frequency_penalty: 0, presence_penalty: 0, top_logprobs: 0 }, []],
  [{ max_output_tokens: 9 }, [], { max_tokens: 9 }],
  [{ include: ['reasoning.encrypted_content'] }, []],
  [{ include: ['message.output_text.logprobs'] }, ['include dropped']],
  [{ include: ['reasoning.encrypted_content', 'web_search_call.results'] }, ['include[1] dropped']],
  [
    { reasoning: { effort: 'high', summary: 'auto' }, max_output_tokens: 10_000 },
    [],
    { thinking: { type: 'enabled', budget_tokens: 8000 }, max_tokens: 10_000 },
  ],
  [{ reasoning: { effort: 'low', summary: 'concise' } }, ['reasoning.summary dropped']],
  [{ reasoning: { summary: 'auto' } }, ['reasoning.summary dropped']],
  [{ reasoning: { context: 'auto', mode: 'standard' } }, []],
  [
    { reasoning: { context: 'all_turns', mode: 'pro' } },
    ['reasoning.context dropped', 'reasoning.mode dropped'],
  ],
  [{ reasoning: { effort: 'none' } }, [], { thinking: { type: 'disabled' } }],
  [{ reasoning: { enabled: false, effort: 'high' } }, ['reasoning.effort dropped']],
  [
    { reasoning: { effort: 'low', max_tokens: 2000 } },
    ['reasoning.effort dropped'],
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
  ],
  [{ reasoning: { effort: 'low', exclude: true } }, [], { thinking: { display: 'omitted' } }],
  [{ reasoning: { novelty: 1 } }, ['reasoning.novelty dropped']],
  [{ text: { format: { type: 'text' } } }, []],
  [{ text: { format: { type: 'json_object' } } }, ['text.format coerced']],
  [
    { text: { format: { type: 'json_schema', name: 'n', schema, description: 'd', strict: true } } },
    ['text.format.description coerced', 'text.format.name dropped', 'text.format.strict dropped'],
    { output_config: { format: { type: 'json_schema', schema: { description: 'd', type: 'object' } } } },
  ],
  [{ text: { verbosity: 'low', novelty: 1 } }, ['text.novelty dropped', 'text.verbosity dropped']],
  [{ modalities: ['text'] }, []],
  [{ modalities: ['text', 'image'] }, ['modalities dropped']],
  [{ image_config: { size: '1K' } }, ['image_config dropped']],
  [{ prompt_cache_key: 'k' }, ['prompt_cache_key dropped']],
  [{ prompt_cache_options: { mode: 'explicit' } }, ['prompt_cache_options dropped']],
  [{ prompt_cache_retention: '24h' }, ['prompt_cache_retention dropped']],
  [{ stream_options: { include_obfuscation: false } }, ['stream_options.include_obfuscation dropped']],
  [{ service_tier: 'auto' }, [], { service_tier: 'auto' }],
  [{ service_tier: 'flex' }, ['service_tier dropped']],
  [{ truncation: 'auto' }, ['truncation dropped']],
  [{ truncation: 'disabled' }, []],
  [{ metadata: { team: 'blue' } }, ['metadata dropped']],
  [{ user: 'ann', safety_identifier: 'bob' }, [], { metadata: { user_id: 'hash(ann)' } }],
  [{ max_tool_calls: 3 }, ['max_tool_calls dropped']],
  [
    { cache_control: { type: 'ephemeral', ttl: '1h' } },
    [],
    { messages: [{ content: [{ text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] }] },
  ],
  [{ instructions: 'Rules' }, [], { system: [{ type: 'text', text: 'Rules' }] }],
  [{ novelty: 1 }, ['novelty dropped']],
  [{ provider: { order: ['x'] }, models: ['c/d'], session_id: 's', trace: {}, store: false }, []],
  [{ stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 1 }], route: 'sort' }, []],
  [{ plugins: [{ id: 'web', enabled: false }], background: false }, []],
  // Tools
  [
    { tools: [f], tool_choice: 'required', parallel_tool_calls: false },
    [],
    { tools: [{ name: 'f' }], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
  ],
  [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, ['tool_choice dropped', 'tools[0] dropped']],
  [
    { tools: [{ type: 'web_search' }, f], tool_choice: { type: 'web_search_preview' } },
    ['tool_choice dropped', 'tools[0] dropped'],
  ],
  [
    { tools: [f, { ...f, name: 'g' }], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [f] } },
    ['tool_choice coerced'],
    { tools: [{ name: 'f' }], tool_choice: { type: 'auto' } },
  ],
  [
    {
      tools: [f],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [f] },
      reasoning: { effort: 'low' },
    },
    ['tool_choice coerced'],
    { tool_choice: { type: 'auto' } },
  ],
  [
    {
      tools: [
        { type: 'namespace', name: 'n', description: 'Group', tools: [f, { ...f, name: 'g', strict: true }] },
        { ...f, name: 'a.b c', defer_loading: true },
        { type: 'custom', name: 'free', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        { type: 'file_search', vector_store_ids: [] },
      ],
    },
    [
      'tools[0].description dropped',
      'tools[0].tools[1].strict dropped',
      'tools[1].defer_loading dropped',
      'tools[1].name renamed',
      'tools[2].format coerced',
      'tools[3] dropped',
    ],
    { tools: [{ name: 'n__f' }, { name: 'n__g' }, { name: 'a_b_c' }, { name: 'free' }] },
  ],
  [
    { tools: [f, { ...f, name: 'f.', cache_control: mark }, { ...f, name: 'f_' }] },
    ['tools[1].name renamed'],
    { tools: [{ name: 'f' }, { name: 'f__2', cache_control: mark }, { name: 'f_' }] },
  ],
  // Content
  [
    asked(
      { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'input_text', text: 'y', cache_control: mark },
      { type: 'input_image', image_url: PNG, detail: 'high' },
      { type: 'input_image', image_url: 'https://a.example/i.png', detail: 'auto' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
      { type: 'input_file', file_data: PNG, filename: 'a.png' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'input_video', video_url: 'https://a.example/v' },
    ),
    [
      'input[0].content[0].prompt_cache_breakpoint dropped',
      'input[0].content[2].detail dropped',
      'input[0].content[5].filename dropped',
      'input[0].content[6] dropped',
      'input[0].content[7] dropped',
    ],
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'text', text: 'y', cache_control: mark },
            { type: 'image', source: NATIVE_PNG },
            { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
            { type: 'document', title: 'a.pdf', source: { type: 'base64' } },
            { type: 'image', source: NATIVE_PNG },
          ],
        },
      ],
    },
  ],
  [
    {
      input: [
        {
          role: 'developer',
          content: [
            { type: 'input_image', image_url: PNG },
            { type: 'input_text', text: 's' },
          ],
        },
        { role: 'user', content: 'q' },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          phase: 'commentary',
          content: [
            {
              type: 'output_text',
              text: 'a',
              annotations: [{ type: 'url_citation', url: 'https://a.example' }],
              logprobs: [{ token: 'a' }],
            },
            { type: 'output_text', text: 'b', annotations: [], logprobs: [] },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        { role: 'system', content: 'later' },
      ],
    },
    [
      'input[0].content[0] dropped',
      'input[2].content[0].annotations dropped',
      'input[2].content[0].logprobs dropped',
      'input[2].phase dropped',
      'input[3] coerced',
    ],
    {
      system: [{ text: 's' }],
      messages: [{ role: 'user' }, { content: [{}, { text: 'b' }, { text: 'no' }] }, {}],
    },
  ],
  [{ input: [{ role: 'system', content: 'only' }] }, ['input[0] coerced'], { messages: [{ role: 'user' }] }],
  [
    {
      input: [
        { role: 'user', content: 'q' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 't' }],
          encrypted_content: 'e',
        },
        {
          type: 'reasoning',
          id: 'rs_2',
          summary: [],
          content: [{ type: 'reasoning_text', text: 't' }],
          signature: 's',
          format: 'anthropic-claude-v1',
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: 'no json', signature: 'seal' },
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_image', image_url: PNG, detail: 'low' }],
        },
        { type: 'image_generation_call', id: 'ig', status: 'completed', result: 'AAAA' },
        { type: 'web_search_call', id: 'ws', status: 'completed' },
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [f, { type: 'web_search' }],
        },
        { type: 'compaction', encrypted_content: 'z' },
      ],
    },
    [
      'input[1] dropped',
      'input[3].arguments coerced',
      'input[3].signature dropped',
      'input[4].output[0].detail dropped',
      'input[5] dropped',
      'input[6] dropped',
      'input[7] coerced',
      'input[7].tools[1] dropped',
      'input[8] dropped',
    ],
    {
      tools: [{ name: 'f' }],
      messages: [
        {},
        {
          content: [
            { type: 'thinking', thinking: 't', signature: 's' },
            { type: 'tool_use', input: { raw: 'no json' } },
          ],
        },
        { content: [{ type: 'tool_result', content: [{ type: 'image' }] }] },
      ],
    },
  ],
];

const CHAT: readonly Row[] = [
  [{ temperature: 0.1, top_p: 0.2, top_k: 3, stop: 'x' }, [], { top_k: 3, stop_sequences: ['x'] }],
  [
    { top_a: 0.5, min_p: 0.1, repetition_penalty: 1.1, seed: 1, logit_bias: { 1: 2 } },
    ['logit_bias dropped', 'min_p dropped', 'repetition_penalty dropped', 'seed dropped', 'top_a dropped'],
  ],
  [{ top_a: 0, min_p: 0, repetition_penalty: 1, logit_bias: {}, logprobs: false }, []],
  [{ logprobs: true, top_logprobs: 2 }, ['logprobs dropped', 'top_logprobs dropped']],
  [{ max_completion_tokens: 9 }, [], { max_tokens: 9 }],
  [{ reasoning_effort: 'high' }, [], { thinking: { type: 'enabled' } }],
  [
    { reasoning_effort: 'high', max_completion_tokens: 900 },
    ['reasoning_effort coerced'],
    { max_tokens: 900, thinking: { type: 'disabled' } },
  ],
  [{ reasoning: { max_tokens: 2000 }, reasoning_effort: 'low' }, ['reasoning_effort dropped']],
  [{ include_reasoning: false, reasoning: { effort: 'low' } }, [], { thinking: { display: 'omitted' } }],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: false } } },
    ['response_format.json_schema.name dropped', 'response_format.json_schema.strict coerced'],
    { output_config: { format: { type: 'json_schema', schema } } },
  ],
  [{ response_format: { type: 'grammar', grammar: 'g' } }, ['response_format dropped']],
  [{ metadata: { team: 'blue' } }, ['metadata dropped']],
  [{ metadata: {} }, []],
  [{ max_tool_calls: 3 }, ['max_tool_calls dropped']],
  [
    { verbosity: 'low', modalities: ['audio'], audio: { voice: 'v' } },
    ['audio dropped', 'modalities dropped', 'verbosity dropped'],
  ],
  [
    { prediction: { type: 'content', content: 'x' }, web_search_options: {} },
    ['prediction dropped', 'web_search_options dropped'],
  ],
  [{ stream_options: { include_usage: true }, usage: { include: true }, store: false, n: 1 }, []],
  [{ novelty: 1 }, ['novelty dropped']],
  [
    {
      tools: [
        { type: 'function', function: { name: 'f', strict: true }, cache_control: mark },
        {
          type: 'custom',
          custom: { name: 'a b', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'custom', custom: { name: 'a b' } },
    },
    [
      'tools[0].function.strict dropped',
      'tools[1].custom.format coerced',
      'tools[1].custom.name renamed',
      'tools[2] dropped',
    ],
    {
      tools: [{ name: 'f', cache_control: mark }, { name: 'a_b' }],
      tool_choice: { type: 'tool', name: 'a_b' },
    },
  ],
  [
    {
      messages: [
        { role: 'system', content: 's', name: 'boss' },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'q', cache_control: mark },
            { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
            { type: 'file', file: { filename: 'a.png', file_data: PNG } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          ],
        },
        {
          role: 'assistant',
          content: 'a',
          annotations: [],
          reasoning: 'hm',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '[]' } }],
          images: [{ type: 'image_url', image_url: { url: PNG } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r', name: 'f' },
      ],
    },
    [
      'messages[0].name dropped',
      'messages[1].content[1].image_url.detail dropped',
      'messages[1].content[2].file.filename dropped',
      'messages[1].content[3] dropped',
      'messages[1].name dropped',
      'messages[2].images[0] dropped',
      'messages[2].reasoning dropped',
      'messages[2].tool_calls[0].function.arguments coerced',
      'messages[3].name dropped',
    ],
    { messages: [{ content: [{ text: 'q', cache_control: mark }, {}, {}] }, {}, {}] },
  ],
];

const MESSAGES: readonly Row[] = [
  [
    { max_tool_calls: 4, thinking: { type: 'disabled', novelty: 1 } },
    ['max_tool_calls dropped', 'thinking.novelty passed_on'],
  ],
  [
    {
      output_config: {
        effort: 'low',
        format: { type: 'json_schema', schema },
        task_budget: { type: 'tokens', total: 20_000 },
      },
      context_management: { edits: [] },
      metadata: { user_id: 'ann', team: 'blue' },
      thinking: { type: 'adaptive', display: 'omitted' },
      speed: 'fast',
    },
    [],
    {
      output_config: {
        effort: 'low',
        format: { type: 'json_schema', schema },
        task_budget: { total: 20_000 },
      },
      context_management: { edits: [] },
      metadata: { user_id: 'hash(ann)', team: 'blue' },
      thinking: { type: 'adaptive', display: 'omitted' },
      speed: 'fast',
    },
  ],
  [{ messages: [{ role: 'user', content: 'Hi', novelty: 1 }] }, ['messages[0].novelty dropped']],
  [
    {
      system: [{ type: 'text', text: 's', cache_control: mark }],
      tools: [
        { name: 'f', input_schema: schema, strict: true },
        { type: 'web_search_20250305', name: 'web_search', cache_control: mark },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'd' },
              context: 'c',
              citations: { enabled: true },
            },
          ],
        },
        { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
        { role: 'system', content: 'between' },
      ],
    },
    ['messages[2] coerced'],
    {
      system: [{ text: 's', cache_control: mark }],
      tools: [
        { name: 'f', strict: true },
        { type: 'web_search_20250305', cache_control: mark },
      ],
      messages: [
        { content: [{ type: 'search_result' }, { context: 'c', citations: { enabled: true } }] },
        { content: [{ type: 'server_tool_use' }] },
        { role: 'user', content: [{ text: '<system>' }, { text: 'between' }, { text: '</system>' }] },
      ],
    },
  ],
  [
    {
      system: 'rules',
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: [
            {
              type: 'thinking',
              thinking: 't',
              signature: wrapSeal({ encrypted: 'e', format: 'openai-responses-v1' }),
            },
            {
              type: 'text',
              text: 'x',
              citations: [
                {
                  type: 'web_search_result_location',
                  cited_text: '',
                  url: 'u',
                  title: 't',
                  encrypted_index: '',
                },
              ],
            },
          ],
        },
        { role: 'user', content: 'q2' },
      ],
    },
    ['messages[1].content[0] dropped', 'messages[1].content[1].citations dropped'],
    { messages: [{}, { content: [{ type: 'text', text: 'x' }] }, {}] },
  ],
];

describe.each([
  ['responses', RESPONSES],
  ['chat', CHAT],
  ['messages', MESSAGES],
] as const)('a %s request to a messages upstream', (format, rows) => {
  const cases = rows.map(([fields, report, arrives = {}]) => ({ fields, report, arrives }));

  it.each(cases)('arrives or is reported: $fields', ({ fields, report, arrives }) => {
    const rendered = renderRequest(parsed(format, fields), TARGET);
    expect(reported(rendered)).toEqual(report);
    expect(rendered.body).toMatchObject(arrives);
  });
});

describe('an output limit', () => {
  const target = { ...TARGET, outputLimit: 2000 };

  it.each<[Format, JsonObject, string]>([
    ['responses', { max_output_tokens: 9000 }, 'max_output_tokens coerced'],
    ['chat', { max_tokens: 9000 }, 'max_tokens coerced'],
    ['chat', { max_completion_tokens: 9000 }, 'max_completion_tokens coerced'],
    ['messages', { max_tokens: 9000 }, 'max_tokens coerced'],
  ])("of a %s request %j is lowered to the endpoint's", (format, fields, entry) => {
    const rendered = renderRequest(parsed(format, fields), target);
    expect(rendered.body.max_tokens).toBe(2000);
    expect(reported(rendered)).toEqual([entry]);
  });

  it('is lowered in the relay lane too, and the thinking with it', () => {
    const thinking = { type: 'enabled', budget_tokens: 5000 };
    const rendered = renderRelay(parsed('messages', { max_tokens: 9000, thinking }), target);
    expect(rendered.body).toMatchObject({ max_tokens: 2000, thinking: { budget_tokens: 1900 } });
    expect(reported(rendered)).toEqual(['max_tokens coerced', 'thinking.budget_tokens coerced']);
    const tight = renderRelay(parsed('messages', { max_tokens: 9000, thinking }), {
      ...TARGET,
      outputLimit: 1000,
    });
    expect(tight.body).toMatchObject({ max_tokens: 1000, thinking: { type: 'disabled' } });
  });

  it.each<[JsonObject, JsonObject, string[]]>([
    [{ effort: 'high' }, { max_tokens: 1024, thinking: { type: 'disabled' } }, ['reasoning coerced']],
    [{ max_tokens: 10 }, { max_tokens: 1024, thinking: { type: 'disabled' } }, ['reasoning coerced']],
    [{ effort: 'none' }, { max_tokens: 1024, thinking: { type: 'disabled' } }, []],
  ])('of 1024 is never raised for the reasoning %j', (reasoning, arrives, report) => {
    const rendered = renderRequest(parsed('responses', { reasoning, max_output_tokens: 1024 }), TARGET);
    expect(rendered.body).toMatchObject(arrives);
    expect(reported(rendered)).toEqual(report);
  });

  it('leaves room for the least budget', () => {
    const small = renderRequest(
      parsed('responses', { reasoning: { max_tokens: 10 }, max_output_tokens: 1025 }),
      TARGET,
    );
    expect(small.body).toMatchObject({ max_tokens: 1025, thinking: { budget_tokens: 1024 } });
    expect(reported(small)).toEqual(['reasoning.max_tokens coerced']);
  });

  it('that the request does not set grows with the budget', () => {
    const reasoning = { max_tokens: 10_000 };
    const free = renderRequest(parsed('responses', { reasoning }), TARGET);
    expect(free.body).toMatchObject({ max_tokens: 14_096, thinking: { budget_tokens: 10_000 } });
    expect(free.report).toEqual([]);
    const bound = renderRequest(parsed('responses', { reasoning }), target);
    expect(bound.body).toMatchObject({ max_tokens: 2000, thinking: { budget_tokens: 1900 } });
    expect(reported(bound)).toEqual(['reasoning.max_tokens coerced']);
  });
});

describe('what an endpoint does not take', () => {
  const target = { ...TARGET, supportedParameters: new Set(['max_tokens']) };

  it.each<[Format, JsonObject, string[]]>([
    ['responses', { tools: [f], tool_choice: 'required' }, ['tool_choice dropped', 'tools dropped']],
    ['responses', { tools: [f], tool_choice: 'auto' }, ['tools dropped']],
    ['chat', { reasoning_effort: 'low' }, ['reasoning_effort dropped']],
    ['responses', { reasoning: { effort: 'none' } }, []],
    [
      'messages',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      ['output_config.effort dropped', 'thinking dropped'],
    ],
    ['messages', { stop_sequences: ['x'] }, ['stop_sequences dropped']],
  ])('of a %s request %j is reported', (format, fields, report) => {
    expect(reported(renderRequest(parsed(format, fields), target))).toEqual(report);
  });
});

describe('cache marks', () => {
  it('beyond four are taken off from the front', () => {
    const content = ['a', 'b', 'c', 'd'].map((text) => ({ type: 'input_text', text, cache_control: mark }));
    const request = parsed('responses', { ...asked(...content), tools: [{ ...f, cache_control: mark }] });
    const rendered = renderRequest(request, TARGET);
    expect(reported(rendered)).toEqual(['tools[0].cache_control dropped']);
    expect(rendered.body.tools).toEqual([expect.not.objectContaining({ cache_control: mark })]);
    expect(JSON.stringify(rendered.body.messages).match(/cache_control/g)).toHaveLength(4);
  });

  it('that are not ours to change are copied first', () => {
    const content = [1, 2, 3, 4, 5].map((n) => ({
      type: 'search_result',
      source: 's',
      title: String(n),
      content: [],
      cache_control: mark,
    }));
    const request = parsed('messages', said(...content));
    expect(reported(renderRequest(request, TARGET))).toEqual([
      'messages[0].content[0].cache_control dropped',
    ]);
    expect(content[0]).toHaveProperty('cache_control');
  });

  it('are not added where the last block has one already', () => {
    const content = ['a', 'b', 'c', 'd'].map((text) => ({ type: 'input_text', text, cache_control: mark }));
    const rendered = renderRequest(
      parsed('responses', { ...asked(...content), cache_control: mark }),
      TARGET,
    );
    expect(rendered.report).toEqual([]);
  });
});

describe('a conversation without content', () => {
  it.each<[Format, JsonObject, string]>([
    ['responses', { input: [{ type: 'acme:web_search', status: 'completed' }] }, 'input'],
    [
      'chat',
      { messages: [{ role: 'assistant', images: [{ type: 'image_url', image_url: { url: PNG } }] }] },
      'messages',
    ],
  ])('of a %s request %j is refused', (format, fields, path) => {
    expect(() => renderRequest(parsed(format, fields), TARGET)).toThrow(
      expect.objectContaining({
        kind: 'invalid-request',
        metadata: { issues: [{ path, message: expect.stringContaining('no content') }] },
      }),
    );
  });

  it('loses images that a model made, in either lane', () => {
    const text = '![image](data:image/png;base64,iVBORw0KGgo=)';
    const messages = [
      { role: 'user', content: 'draw' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Here:' },
          { type: 'text', text },
        ],
      },
      { role: 'user', content: text },
    ];
    for (const render of [renderRelay, renderRequest]) {
      const { body, report } = render(parsed('messages', { messages }), TARGET);
      expect(JSON.stringify(body).split('iVBORw0KGgo=')).toHaveLength(2);
      expect(report).toMatchObject([{ field: 'messages[1].content[1]', action: 'dropped' }]);
    }
  });

  it('is refused in the relay lane when nothing is left of it', () => {
    const messages = [{ role: 'assistant', content: [{ type: 'redacted_thinking', data: wrapSeal({}) }] }];
    expect(() => renderRelay(parsed('messages', { messages }), TARGET)).toThrow(/no content/);
  });
});
