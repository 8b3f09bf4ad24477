import { describe, expect, it } from 'vitest';
import type { Format } from '../../ir/items.ts';
import type { TranslationEntry } from '../../ir/metadata.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import { chat } from '../chat/index.ts';
import type { InboundDialect, RenderTarget } from '../dialect.ts';
import { messages } from '../messages/index.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { responses } from './index.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

const VENDOR = 'acme';
const target: RenderTarget = { model: 'up', hashUser: (id) => `#${id}` };

const INBOUND: Readonly<Record<Format, InboundDialect>> = {
  messages: messages.inbound,
  chat: chat.inbound,
  responses: responses.inbound,
};

const VALIDATORS = {
  messages: compileValidator(messages.inbound.requestSchema(VENDOR)),
  chat: compileValidator(chat.inbound.requestSchema(VENDOR)),
  responses: compileValidator(responses.inbound.requestSchema(VENDOR)),
};

const BASE: Readonly<Record<Format, JsonObject>> = {
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
  chat: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
};

function parse(format: Format, fields: JsonObject) {
  const body = { ...BASE[format], ...fields };
  expect(VALIDATORS[format].issuesOf(body)).toEqual([]);
  return INBOUND[format].parseRequest(body, { vendor: VENDOR });
}

/** The caller's body, the rendered body, and the paths and actions of the report. */
type Row = readonly [fields: JsonObject, sent: JsonObject, ...entries: string[]];

const entriesOf = (report: readonly TranslationEntry[]) =>
  report.map(({ field, action }) => `${field} ${action}`).sort();

const cache_control = { type: 'ephemeral' };
const functionTool = { name: 'f', input_schema: { type: 'object' } };
const sentTool = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false };
const blocks = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
const said = (...content: JsonObject[]): JsonObject => ({
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'so?' },
  ],
});
const heard = (...content: JsonObject[]): JsonObject => ({
  input: [{ type: 'message', role: 'user', content }],
});

const FROM_MESSAGES: readonly Row[] = [
  [
    { temperature: 0.5, top_p: 0.5 },
    { temperature: 0.5, top_p: 0.5, max_output_tokens: 100 },
  ],
  [{ top_k: 4 }, {}, 'top_k dropped'],
  [{ stop_sequences: ['x'] }, {}, 'stop_sequences dropped'],
  [{ max_tool_calls: 4 }, { max_tool_calls: 4 }],
  [{ cache_control }, {}, 'cache_control dropped'],
  [{ metadata: { user_id: 'ann' } }, { user: '#ann' }],
  [{ metadata: { user_id: 'ann', team: 'a' } }, { user: '#ann' }, 'metadata.team dropped'],
  [
    {
      output_config: {
        effort: 'low',
        format: { type: 'json_schema', schema: {} },
        task_budget: { type: 'tokens', total: 20_000 },
      },
    },
    { reasoning: { effort: 'low' }, text: { format: { type: 'json_schema', schema: {} } } },
    'output_config.task_budget dropped',
  ],
  [
    { thinking: { type: 'disabled' }, output_config: { effort: 'low' } },
    { reasoning: { effort: 'none' } },
    'output_config.effort dropped',
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 50 } },
    { reasoning: { effort: 'medium', summary: 'auto' } },
    'thinking.budget_tokens coerced',
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 50 }, output_config: { effort: 'high' } },
    { reasoning: { effort: 'high' } },
    'thinking.budget_tokens dropped',
  ],
  [{ thinking: { type: 'adaptive', display: 'omitted' } }, {}, 'thinking.type coerced'],
  [{ context_management: { edits: [] } }, {}, 'context_management dropped'],
  [{ speed: 'fast' }, { service_tier: 'priority' }, 'speed coerced'],
  [{ speed: 'fast', service_tier: 'flex' }, { service_tier: 'flex' }, 'speed dropped'],
  [{ speed: 'standard', service_tier: 'priority' }, { service_tier: 'priority' }, 'speed dropped'],
  [{ speed: 'fast', service_tier: 'priority' }, { service_tier: 'priority' }],
  [{ service_tier: 'standard_only' }, {}, 'service_tier dropped'],
  [{ container: 'c', fallbacks: [{ model: 'n' }] }, {}, 'container dropped'],
  [{ system: 'Be brief.' }, { instructions: 'Be brief.' }],
  [
    { system: [{ type: 'text', text: 'Be brief.', cache_control }] },
    { instructions: 'Be brief.' },
    'system[0].cache_control dropped',
  ],
  [
    {
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control },
      ],
    },
    { input: [{ role: 'system', content: [{ text: 'a' }, { text: 'b' }] }, {}] },
    'system[1].cache_control dropped',
  ],
  [
    blocks({ type: 'text', text: 'a' }, { type: 'text', text: 'b', cache_control }),
    { input: [{ content: [{ text: 'a' }, { text: 'b' }] }] },
    'messages[0].content[1].cache_control dropped',
  ],
  [
    blocks({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'x' },
      title: 'T',
      context: 'C',
      citations: { enabled: true },
    }),
    { input: [{ content: [{ type: 'input_file', filename: 'T' }] }] },
    'messages[0].content[0].context dropped',
    'messages[0].content[0].citations dropped',
  ],
  [
    blocks({
      type: 'document',
      source: { type: 'content', content: [{ type: 'text', text: 'inside' }] },
      title: 'T',
    }),
    { input: [{ content: [{ type: 'input_text', text: 'T\ninside' }] }] },
    'messages[0].content[0] coerced',
  ],
  [
    blocks({ type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'found' }] }),
    { input: [{ content: [{ type: 'input_text', text: 't\ns\nfound' }] }] },
    'messages[0].content[0] coerced',
  ],
  [
    said(
      { type: 'text', text: 'a', citations: [] },
      {
        type: 'text',
        text: 'b',
        citations: [
          {
            type: 'char_location',
            cited_text: 'c',
            document_index: 0,
            start_char_index: 0,
            end_char_index: 1,
          },
        ],
      },
    ),
    { input: [{}, { content: [{ text: 'a' }, { text: 'b' }] }, {}] },
    'messages[1].content[1].citations dropped',
  ],
  [
    said({ type: 'thinking', thinking: 'hm', signature: 'SIG' }),
    { input: [{}, { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] }, {}] },
    'messages[1].content[0].signature dropped',
  ],
  [
    said({ type: 'text', text: 'a' }, { type: 'redacted_thinking', data: 'DATA' }),
    { input: [{}, { content: [{ text: 'a' }] }, {}] },
    'messages[1].content[1] dropped',
  ],
  [
    said({
      type: 'thinking',
      thinking: 'hm',
      signature: wrapSeal({ id: 'rs_1', encrypted: 'E', format: 'openai-responses-v1' }),
    }),
    { input: [{}, { id: 'rs_1', encrypted_content: 'E', summary: [{ text: 'hm' }] }, {}] },
  ],
  [
    said({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, { type: 'text', text: 'a' }),
    { input: [{}, { content: [{ text: 'a' }] }, {}] },
    'messages[1].content[0] dropped',
  ],
  [
    said({ type: 'tool_use', id: 'c', name: 'f', input: {}, caller: { type: 'direct' }, cache_control }),
    { input: [{}, { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }, {}, {}] },
    'messages[1].content[0].cache_control dropped',
    'messages[1].content[0] coerced',
  ],
  [
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c',
              is_error: true,
              cache_control,
              content: [
                { type: 'text', text: 'x', cache_control },
                { type: 'tool_reference', tool_name: 'f' },
              ],
            },
          ],
        },
      ],
    },
    {
      input: [
        {},
        {
          type: 'function_call_output',
          output: [{ text: 'The tool failed.' }, { text: 'x' }, { text: 'The tool f can be called now.' }],
        },
      ],
    },
    'messages[1].content[0].cache_control dropped',
    'messages[1].content[0].content[0].cache_control dropped',
    'messages[1].content[0].is_error coerced',
    'messages[1].content[0].content[1] coerced',
  ],
  [
    { tools: [functionTool], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    { tools: [sentTool], tool_choice: 'required', parallel_tool_calls: false },
  ],
  [
    {
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { ...functionTool, cache_control, input_examples: [1] },
      ],
    },
    { tools: [sentTool] },
    'tools[0] dropped',
    'tools[1].cache_control dropped',
    'tools[1].input_examples dropped',
  ],
  [
    { tools: [{ type: 'bash_20250124', name: 'bash' }], tool_choice: { type: 'any' } },
    {},
    'tools[0] dropped',
    'tool_choice dropped',
  ],
  [
    { tools: [{ type: 'bash_20250124', name: 'bash' }], tool_choice: { type: 'tool', name: 'bash' } },
    {},
    'tools[0] dropped',
    'tool_choice dropped',
  ],
];

const chatTool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };

const FROM_CHAT: readonly Row[] = [
  [
    { temperature: 1, top_p: 1, frequency_penalty: 1, presence_penalty: 1, max_completion_tokens: 5 },
    { temperature: 1, top_p: 1, frequency_penalty: 1, presence_penalty: 1, max_output_tokens: 5 },
  ],
  ...['top_k', 'top_a', 'min_p', 'repetition_penalty', 'seed'].map(
    (name): Row => [{ [name]: 1 }, {}, `${name} dropped`],
  ),
  [{ stop: 'x' }, {}, 'stop dropped'],
  [{ logit_bias: { 5: 1 } }, {}, 'logit_bias dropped'],
  [
    { logprobs: true, top_logprobs: 2 },
    { include: ['message.output_text.logprobs'], top_logprobs: 2 },
  ],
  [
    { n: 1, store: false, stream_options: { include_usage: true }, usage: { include: true } },
    { store: false },
  ],
  [{ max_tool_calls: 3 }, { max_tool_calls: 3 }],
  [
    { reasoning: { effort: 'low', summary: 'auto', context: 'auto', mode: 'pro', exclude: true } },
    { reasoning: { effort: 'low', summary: 'auto', context: 'auto', mode: 'pro' } },
  ],
  [{ reasoning: { max_tokens: 9 } }, { reasoning: { effort: 'minimal' } }, 'reasoning.max_tokens coerced'],
  [
    { reasoning: { max_tokens: 9, effort: 'high' } },
    { reasoning: { effort: 'high' } },
    'reasoning.max_tokens dropped',
  ],
  [
    { reasoning: { enabled: false, effort: 'high' } },
    { reasoning: { effort: 'high' } },
    'reasoning.enabled dropped',
  ],
  [{ reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }],
  [{ verbosity: 'low' }, { text: { verbosity: 'low' } }],
  [{ response_format: { type: 'grammar', grammar: 'g' } }, {}, 'response_format dropped'],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: {} } } },
    { text: { format: { type: 'json_schema', name: 'n', strict: true } } },
  ],
  [{ modalities: ['text', 'audio'], audio: { voice: 'v' } }, {}, 'audio dropped', 'modalities coerced'],
  [{ prediction: { type: 'content', content: 'x' } }, {}, 'prediction dropped'],
  [{ web_search_options: {} }, {}, 'web_search_options dropped'],
  [
    {
      metadata: { a: 'b' },
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      service_tier: 'flex',
      image_config: { size: 'x' },
    },
    {
      metadata: { a: 'b' },
      user: '#u',
      safety_identifier: '#s',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      service_tier: 'flex',
      image_config: { size: 'x' },
    },
  ],
  [{ zz: 1 }, {}, 'zz dropped'],
  [
    { messages: [{ role: 'user', name: 'ann', content: [{ type: 'text', text: 'x', cache_control }] }] },
    { input: [{ content: [{ text: 'x' }] }] },
    'messages[0].name dropped',
    'messages[0].content[0].cache_control dropped',
  ],
  [
    {
      messages: [
        { role: 'system', name: 'boss', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    },
    { instructions: 'Be brief.' },
    'messages[0].name dropped',
  ],
  [
    {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'x',
          annotations: [{ type: 'url_citation' }],
          reasoning_details: [
            { type: 'reasoning.text', text: 'hm', signature: 'S', format: 'anthropic-claude-v1' },
          ],
        },
      ],
    },
    { input: [{}, { type: 'reasoning' }, { content: [{ text: 'x' }] }] },
    'messages[1].annotations dropped',
    'messages[1].reasoning_details coerced',
  ],
  [
    {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          reasoning_details: [
            { type: 'reasoning.encrypted', id: 'c', data: 'D', format: 'google-gemini-v1' },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
    },
    { input: [{}, { type: 'function_call' }, { type: 'function_call_output', output: 'x' }] },
    'messages[1].reasoning_details coerced',
  ],
  [
    { tools: [{ type: 'web_search' }, { ...chatTool, cache_control }], tool_choice: 'required' },
    { tools: [sentTool], tool_choice: 'required' },
    'tools[1].cache_control dropped',
    'tools[0] dropped',
  ],
  [
    {
      tools: [{ type: 'web_search' }, chatTool],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'auto',
          tools: [{ type: 'web_search' }, { type: 'function', function: { name: 'f' } }],
        },
      },
    },
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] } },
    'tools[0] dropped',
    'tool_choice coerced',
  ],
];

/** The same format, where a stage keeps it out of the relay lane. */
const FROM_RESPONSES: readonly Row[] = [
  [{ stream_options: { include_obfuscation: false }, max_tool_calls: 2 }, { max_tool_calls: 2 }],
  [
    { zz: 1, reasoning: { effort: 'low', zz: 1 } },
    { zz: 1, reasoning: { zz: 1 } },
    'zz passed_on',
    'reasoning.zz passed_on',
  ],
  [heard({ type: 'input_text', text: 'x', cache_control }), {}, 'input[0].content[0].cache_control dropped'],
  [
    heard({ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'u' }] }),
    { input: [{ content: [{ type: 'input_text', text: 'x' }] }] },
    'input[0].content[0].annotations dropped',
  ],
  [
    {
      input: [
        { role: 'user', content: 'x' },
        { type: 'acme:web_search', status: 'completed' },
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'function', name: 'late', cache_control }],
        },
      ],
    },
    {
      input: [
        {},
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late' }] },
      ],
    },
    'input[2].tools[0].cache_control dropped',
    'input[1] dropped',
  ],
  [
    {
      tools: [
        {
          type: 'namespace',
          name: 'git',
          description: 'd',
          tools: [
            { type: 'function', name: 'log' },
            { type: 'function', name: 'diff', cache_control },
          ],
        },
        { type: 'web_search', engine: 'exa' },
      ],
    },
    { tools: [{ type: 'namespace' }, { type: 'web_search' }] },
    'tools[0].tools[1].cache_control dropped',
    'tools[1].engine dropped',
  ],
];

describe.each([
  ['messages', FROM_MESSAGES],
  ['chat', FROM_CHAT],
  ['responses', FROM_RESPONSES],
] as const)('a request of the %s format', (format, rows) => {
  for (const [fields, sent, ...entries] of rows) {
    it(`sends or reports ${JSON.stringify(fields)}`, () => {
      const { body, report } = renderRequest(parse(format, fields), target);
      expect(body).toMatchObject(sent);
      expect(JSON.stringify(body)).not.toContain('cache_control');
      expect(entriesOf(report)).toEqual(entries.sort());
    });
  }
});

describe('an endpoint that takes few parameters', () => {
  const few: RenderTarget = { ...target, supportedParameters: new Set(['temperature']) };
  type FewRow = readonly [format: Format, fields: JsonObject, ...lost: string[]];
  const ROWS: readonly FewRow[] = [
    [
      'messages',
      {
        tools: [{ ...functionTool, cache_control }],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        thinking: { type: 'enabled', budget_tokens: 50 },
        output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
        top_k: 1,
      },
      'top_k',
      'tools',
      'tool_choice',
      'tool_choice.disable_parallel_tool_use',
      'thinking',
      'output_config.effort',
      'output_config.format',
    ],
    [
      'chat',
      {
        reasoning_effort: 'low',
        response_format: { type: 'json_object' },
        logprobs: true,
        verbosity: 'low',
      },
      'logprobs',
      'reasoning_effort',
      'response_format',
      'verbosity',
    ],
    [
      'responses',
      {
        include: ['message.output_text.logprobs'],
        reasoning: { max_tokens: 5 },
        text: { format: { type: 'json_object' }, verbosity: 'low' },
        tools: [{ type: 'web_search', engine: 'exa' }],
        tool_choice: 'auto',
      },
      'include',
      'tools',
      'tool_choice',
      'reasoning',
      'text.format',
      'text.verbosity',
    ],
  ];

  for (const [format, fields, ...lost] of ROWS) {
    it(`is sent none of the rest, and each loss is told once (${format})`, () => {
      const renders = format === 'responses' ? [renderRequest, renderRelay] : [renderRequest];
      for (const render of renders) {
        const { body, report } = render(parse(format, { ...fields, temperature: 1 }), few);
        expect(body.temperature).toBe(1);
        for (const name of ['include', 'reasoning', 'text', 'tools', 'tool_choice', 'parallel_tool_calls']) {
          expect(body[name]).toBeUndefined();
        }
        expect(entriesOf(report)).toEqual(lost.map((field) => `${field} dropped`).sort());
      }
    });
  }

  it('is sent plain text as the format, for that is what it answers in', () => {
    const { body, report } = renderRelay(parse('responses', { text: { format: { type: 'text' } } }), few);
    expect(body.text).toEqual({ format: { type: 'text' } });
    expect(report).toEqual([]);
  });
});

describe('an output limit', () => {
  const small: RenderTarget = { ...target, outputLimit: 2000 };

  it.each<[Format, JsonObject, string]>([
    ['responses', { max_output_tokens: 9000 }, 'max_output_tokens coerced'],
    ['chat', { max_completion_tokens: 9000 }, 'max_completion_tokens coerced'],
    ['messages', { max_tokens: 9000 }, 'max_tokens coerced'],
  ])("of a %s request %j is lowered to the endpoint's", (format, fields, entry) => {
    const renders = format === 'responses' ? [renderRequest, renderRelay] : [renderRequest];
    for (const render of renders) {
      const { body, report } = render(parse(format, fields), small);
      expect(body.max_output_tokens).toBe(2000);
      expect(entriesOf(report)).toEqual([entry]);
    }
  });
});
