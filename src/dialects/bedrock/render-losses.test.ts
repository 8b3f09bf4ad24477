import { describe, expect, it } from 'vitest';
import type { Format } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { chat } from '../chat/index.ts';
import type { RenderTarget } from '../dialect.ts';
import { messages } from '../messages/index.ts';
import { responses } from '../responses/index.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { renderRequest } from './render.ts';

/** Everything a caller can say to a Bedrock upstream arrives, or is in the report at the place where it was said. */

const TARGET: RenderTarget = { model: 'us.anthropic.claude-v1:0', hashUser: (id) => `hash(${id})` };
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
const POINT: JsonObject = { cachePoint: { type: 'default' } };
const PNG = 'data:image/png;base64,AAAA';
const schema: JsonObject = { type: 'object' };
const spec = (name: string): JsonObject => ({ toolSpec: { name } });

/** Content of one user message, and what it becomes. */
const asked = (...content: JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
const said = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
const arrived = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });

const RESPONSES: readonly Row[] = [
  // Settings
  [
    { temperature: 0.1, top_p: 0.2, top_k: 3 },
    [],
    { inferenceConfig: { temperature: 0.1, topP: 0.2 }, additionalModelRequestFields: { top_k: 3 } },
  ],
  [{ temperature: 1.5 }, ['temperature coerced'], { inferenceConfig: { temperature: 1 } }],
  [
    { frequency_penalty: 1, presence_penalty: 1, top_logprobs: 2 },
    ['frequency_penalty dropped', 'presence_penalty dropped', 'top_logprobs dropped'],
  ],
  [{ frequency_penalty: 0, presence_penalty: 0, top_logprobs: 0 }, []],
  [{ max_output_tokens: 9 }, [], { inferenceConfig: { maxTokens: 9 } }],
  [{ include: ['reasoning.encrypted_content'] }, []],
  [{ include: ['message.output_text.logprobs'] }, ['include dropped']],
  [{ include: ['reasoning.encrypted_content', 'web_search_call.results'] }, ['include[1] dropped']],
  [
    { reasoning: { effort: 'high', summary: 'auto' }, max_output_tokens: 10_000 },
    [],
    {
      inferenceConfig: { maxTokens: 10_000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 8000 } },
    },
  ],
  [{ reasoning: { effort: 'low', summary: 'concise' } }, ['reasoning.summary dropped']],
  [{ reasoning: { context: 'all_turns' } }, ['reasoning.context dropped']],
  [
    { reasoning: { effort: 'none' } },
    [],
    { additionalModelRequestFields: { thinking: { type: 'disabled' } } },
  ],
  [
    { reasoning: { effort: 'low' }, temperature: 0.5, top_p: 0.5, top_k: 4 },
    ['temperature dropped', 'top_k dropped', 'top_p dropped'],
  ],
  [{ text: { format: { type: 'text' } } }, []],
  [
    { text: { format: { type: 'json_object' } } },
    ['text.format coerced'],
    { system: [{ text: expect.stringContaining('JSON') as unknown as string }] },
  ],
  [
    { text: { format: { type: 'json_schema', name: 'n', schema, description: 'd', strict: true } } },
    [],
    {
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { schema: '{"type":"object"}', name: 'n', description: 'd' } },
        },
      },
    },
  ],
  [{ text: { verbosity: 'low', novelty: 1 } }, ['text.novelty dropped', 'text.verbosity dropped']],
  [{ modalities: ['text'] }, []],
  [{ modalities: ['text', 'image'] }, ['modalities dropped']],
  [{ image_config: { size: '1K' } }, ['image_config dropped']],
  [{ prompt_cache_key: 'k' }, ['prompt_cache_key dropped']],
  [{ prompt_cache_options: { mode: 'explicit' } }, ['prompt_cache_options dropped']],
  [{ prompt_cache_retention: '24h' }, ['prompt_cache_retention dropped']],
  [{ stream_options: { include_obfuscation: false } }, ['stream_options.include_obfuscation dropped']],
  [{ service_tier: 'auto' }, []],
  [{ service_tier: 'flex' }, [], { serviceTier: { type: 'flex' } }],
  [{ service_tier: 'priority' }, [], { serviceTier: { type: 'priority' } }],
  [{ service_tier: 'scale' }, ['service_tier dropped']],
  [{ truncation: 'auto' }, ['truncation dropped']],
  [{ truncation: 'disabled' }, []],
  [{ metadata: { team: 'blue, red' } }, [], { requestMetadata: { team: 'blue, red' } }],
  [
    { metadata: { team: 'blue', note: 'grün', 'a!': 'x' } },
    ['metadata.a! dropped', 'metadata.note dropped'],
    { requestMetadata: { team: 'blue' } },
  ],
  [{ user: 'ann', safety_identifier: 'bob' }, []],
  [{ max_tool_calls: 3 }, ['max_tool_calls dropped']],
  [
    { cache_control: { type: 'ephemeral', ttl: '1h' } },
    [],
    arrived({ text: 'Hi' }, { cachePoint: { type: 'default', ttl: '1h' } }),
  ],
  [{ instructions: 'Rules' }, [], { system: [{ text: 'Rules' }] }],
  [{ novelty: 1 }, ['novelty dropped']],
  [{ provider: { order: ['x'] }, models: ['c/d'], session_id: 's', trace: {}, store: false }, []],
  [{ plugins: [{ id: 'web', enabled: false }], background: false }, []],
  // Tools
  [
    { tools: [f], tool_choice: 'required', parallel_tool_calls: false },
    ['parallel_tool_calls dropped'],
    { toolConfig: { tools: [spec('f')], toolChoice: { any: {} } } },
  ],
  [
    { tools: [f], tool_choice: { type: 'function', name: 'f' } },
    [],
    { toolConfig: { tools: [spec('f')], toolChoice: { tool: { name: 'f' } } } },
  ],
  [{ tools: [f], tool_choice: 'none' }, ['tool_choice coerced']],
  [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, ['tool_choice dropped', 'tools[0] dropped']],
  [
    { tools: [{ type: 'web_search' }, f], tool_choice: { type: 'web_search_preview' } },
    ['tool_choice dropped', 'tools[0] dropped'],
  ],
  [
    { tools: [f, { ...f, name: 'g' }], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [f] } },
    ['tool_choice coerced'],
    { toolConfig: { tools: [spec('f')] } },
  ],
  [
    {
      tools: [f],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [f] },
      reasoning: { effort: 'low' },
    },
    ['tool_choice coerced'],
    { toolConfig: { tools: [spec('f')] } },
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
    { toolConfig: { tools: [spec('n__f'), spec('n__g'), spec('a_b_c'), spec('free')] } },
  ],
  [
    {
      tools: [
        { ...f, cache_control: mark },
        { ...f, name: 'g' },
      ],
    },
    [],
    { toolConfig: { tools: [spec('f'), POINT, spec('g')] } },
  ],
  // Content
  [
    asked(
      { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'input_text', text: 'y', cache_control: mark },
      { type: 'input_image', image_url: PNG, detail: 'high' },
      { type: 'input_image', image_url: 'https://a.example/i.png', detail: 'auto' },
      { type: 'input_image', image_url: 's3://bucket/i.jpg' },
      { type: 'input_image', image_url: 'data:image/tiff;base64,AAAA' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
      { type: 'input_file', file_data: PNG, filename: 'a.png' },
      { type: 'input_file', file_url: 'https://a.example/f.pdf' },
      { type: 'input_file', file_id: 'file_1' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'midi' } },
      { type: 'input_video', video_url: 'https://a.example/v' },
      { type: 'input_video', video_url: 'data:video/mp4;base64,AAAA' },
    ),
    [
      'input[0].content[0].prompt_cache_breakpoint dropped',
      'input[0].content[11] dropped',
      'input[0].content[12] coerced',
      'input[0].content[2].detail dropped',
      'input[0].content[3] coerced',
      'input[0].content[5] dropped',
      'input[0].content[7].filename dropped',
      'input[0].content[8] coerced',
      'input[0].content[9] dropped',
    ],
    arrived(
      { text: 'x' },
      { text: 'y' },
      POINT,
      { image: { format: 'png', source: { bytes: 'AAAA' } } },
      { text: '[image at https://a.example/i.png]' },
      { image: { format: 'jpeg', source: { s3Location: { uri: 's3://bucket/i.jpg' } } } },
      { document: { name: 'a', format: 'pdf', source: { bytes: 'AAAA' } } },
      { image: { format: 'png', source: { bytes: 'AAAA' } } },
      { text: '[document at https://a.example/f.pdf]' },
      { audio: { format: 'wav', source: { bytes: 'AAAA' } } },
      { text: '[video at https://a.example/v]' },
      { video: { format: 'mp4', source: { bytes: 'AAAA' } } },
    ),
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
            { type: 'output_text', text: ' ', annotations: [], logprobs: [] },
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
      'input[2].content[1] dropped',
      'input[2].phase dropped',
      'input[3] coerced',
    ],
    {
      system: [{ text: 's' }],
      messages: [
        { role: 'user', content: [{ text: 'q' }] },
        { role: 'assistant', content: [{ text: 'a' }, { text: 'no' }] },
        { role: 'user', content: [{ text: '<system>' }, { text: 'later' }, { text: '</system>' }] },
      ],
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
        { type: 'additional_tools', role: 'developer', tools: [f, { type: 'web_search' }] },
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
      toolConfig: { tools: [spec('f')] },
      messages: [
        {},
        {
          content: [
            { reasoningContent: { reasoningText: { text: 't', signature: 's' } } },
            { toolUse: { toolUseId: 'c', name: 'f', input: { raw: 'no json' } } },
          ],
        },
        {
          content: [
            {
              toolResult: {
                toolUseId: 'c',
                content: [{ image: { format: 'png', source: { bytes: 'AAAA' } } }],
              },
            },
          ],
        },
      ],
    },
  ],
];

const CHAT: readonly Row[] = [
  [
    { temperature: 0.1, top_k: 3, stop: 'x' },
    [],
    {
      inferenceConfig: { temperature: 0.1, stopSequences: ['x'] },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    },
  ],
  [
    { top_a: 0.5, min_p: 0.1, repetition_penalty: 1.1, seed: 1, logit_bias: { 1: 2 } },
    ['logit_bias dropped', 'min_p dropped', 'repetition_penalty dropped', 'seed dropped', 'top_a dropped'],
  ],
  [{ top_a: 0, min_p: 0, repetition_penalty: 1, logit_bias: {}, logprobs: false }, []],
  [{ logprobs: true, top_logprobs: 2 }, ['logprobs dropped', 'top_logprobs dropped']],
  [{ max_completion_tokens: 9 }, [], { inferenceConfig: { maxTokens: 9 } }],
  [{ reasoning_effort: 'high' }, [], { additionalModelRequestFields: { thinking: { type: 'enabled' } } }],
  [
    { reasoning_effort: 'high', max_completion_tokens: 900 },
    ['reasoning_effort coerced'],
    {
      inferenceConfig: { maxTokens: 900 },
      additionalModelRequestFields: { thinking: { type: 'disabled' } },
    },
  ],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: false } } },
    ['response_format.json_schema.strict coerced'],
  ],
  [{ response_format: { type: 'grammar', grammar: 'g' } }, ['response_format dropped']],
  [{ metadata: { team: 'blue' } }, [], { requestMetadata: { team: 'blue' } }],
  [{ metadata: {} }, []],
  [
    { verbosity: 'low', modalities: ['audio'], audio: { voice: 'v' } },
    ['audio dropped', 'modalities dropped', 'verbosity dropped'],
  ],
  [{ prediction: { type: 'content', content: 'x' } }, ['prediction dropped']],
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
    { toolConfig: { tools: [spec('f'), POINT, spec('a_b')], toolChoice: { tool: { name: 'a_b' } } } },
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
            {
              type: 'file',
              file: { filename: 'Bericht: März.pdf', file_data: 'data:application/pdf;base64,AAAA' },
            },
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
      'messages[1].content[2].file.filename renamed',
      'messages[1].name dropped',
      'messages[2].images[0] dropped',
      'messages[2].reasoning dropped',
      'messages[2].tool_calls[0].function.arguments coerced',
      'messages[3].name dropped',
      'tools coerced',
    ],
    {
      messages: [
        { content: [{ text: 'q' }, POINT, { image: {} }, { document: { name: 'Bericht- M-rz' } }] },
        {},
        {},
      ],
    },
  ],
];

const MESSAGES: readonly Row[] = [
  [
    { max_tool_calls: 4, thinking: { type: 'disabled', novelty: 1 } },
    ['max_tool_calls dropped', 'thinking.novelty dropped'],
  ],
  [
    {
      output_config: {
        effort: 'low',
        format: { type: 'json_schema', schema },
        task_budget: { type: 'tokens', total: 20_000 },
      },
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
      metadata: { user_id: 'ann', team: 'blue' },
      thinking: { type: 'adaptive', display: 'omitted' },
      speed: 'fast',
    },
    [
      'context_management dropped',
      'metadata.team dropped',
      'output_config.task_budget dropped',
      'speed coerced',
    ],
    {
      outputConfig: {
        textFormat: { structure: { jsonSchema: { schema: '{"type":"object"}' } } },
        effort: 'low',
      },
      additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'omitted' } },
      serviceTier: { type: 'priority' },
    },
  ],
  [{ service_tier: 'standard_only', speed: 'standard' }, []],
  [{ messages: [{ role: 'user', content: 'Hi', novelty: 1 }] }, ['messages[0].novelty dropped']],
  [
    {
      system: [{ type: 'text', text: 's', cache_control: mark }],
      tools: [
        { name: 'f', input_schema: schema, strict: true },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'search_result',
              source: 's',
              title: 't',
              content: [{ type: 'text', text: 'x' }],
              citations: { enabled: true },
              cache_control: mark,
            },
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'd' },
              context: 'c',
              citations: { enabled: true },
            },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'e' }] } },
          ],
        },
        { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
        { role: 'system', content: 'between' },
      ],
    },
    ['messages[1].content[0] dropped', 'messages[2] coerced', 'tools[1] dropped'],
    {
      system: [{ text: 's' }, POINT],
      toolConfig: { tools: [{ toolSpec: { name: 'f', strict: true, inputSchema: { json: schema } } }] },
      messages: [
        {
          content: [
            {
              searchResult: {
                source: 's',
                title: 't',
                content: [{ text: 'x' }],
                citations: { enabled: true },
              },
            },
            POINT,
            {
              document: {
                name: 'document',
                format: 'txt',
                source: { bytes: 'ZA==' },
                context: 'c',
                citations: { enabled: true },
              },
            },
            { document: { name: 'document (2)', format: 'txt', source: { bytes: 'ZQ==' } } },
            { text: '<system>' },
            { text: 'between' },
            { text: '</system>' },
          ],
        },
      ],
    },
  ],
  [
    {
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
            { type: 'thinking', thinking: 'mine', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'Sealed' },
            { type: 'text', text: 'x', citations: [{ type: 'char_location', cited_text: 'y' }] },
            { type: 'tool_use', id: 'c', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and' },
            { type: 'tool_result', tool_use_id: 'c', is_error: true, content: '', cache_control: mark },
          ],
        },
      ],
    },
    ['messages[1].content[0] dropped', 'messages[1].content[3].citations dropped', 'tools coerced'],
    {
      messages: [
        {},
        {
          content: [
            { reasoningContent: { reasoningText: { text: 'mine', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: 'U2VhbGVk' } },
            { text: 'x' },
            { toolUse: { toolUseId: 'c' } },
          ],
        },
        {
          content: [
            { toolResult: { toolUseId: 'c', status: 'error', content: [{ text: '(empty)' }] } },
            POINT,
            { text: 'and' },
          ],
        },
      ],
    },
  ],
  [
    said({ type: 'image', source: { type: 'file', file_id: 'f_1' } }, { type: 'text', text: 'q' }),
    ['messages[0].content[0] dropped'],
    arrived({ text: 'q' }),
  ],
];

describe.each([
  ['responses', RESPONSES],
  ['chat', CHAT],
  ['messages', MESSAGES],
] as const)('a %s request to a Bedrock upstream', (format, rows) => {
  const cases = rows.map(([fields, report, arrives = {}]) => ({ fields, report, arrives }));

  it.each(cases)('arrives or is reported: $fields', ({ fields, report, arrives }) => {
    const rendered = renderRequest(parsed(format, fields), TARGET);
    expect(reported(rendered)).toEqual(report);
    expect(rendered.body).toMatchObject(arrives);
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
      'responses',
      { temperature: 0.5, top_p: 0.5, top_k: 5 },
      ['temperature dropped', 'top_k dropped', 'top_p dropped'],
    ],
    ['messages', { stop_sequences: ['x'] }, ['stop_sequences dropped']],
    ['responses', { text: { format: { type: 'json_schema', name: 'n', schema } } }, ['text.format coerced']],
  ])('of a %s request %j is reported', (format, fields, report) => {
    expect(reported(renderRequest(parsed(format, fields), target))).toEqual(report);
  });
});

describe('what a model does not take', () => {
  const history: JsonObject = {
    messages: [
      {
        role: 'user',
        content: [{ type: 'text', text: 'q', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 'c2ln' },
          { type: 'tool_use', id: 'c', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', is_error: true, content: 'no such file' }],
      },
    ],
    tools: [{ name: 'f', input_schema: schema, cache_control: mark }],
    top_k: 5,
    thinking: { type: 'enabled', budget_tokens: 2000 },
    max_tokens: 4000,
  };

  it.each<[string, string[], JsonObject]>([
    [
      'us.amazon.nova-2-lite-v1:0',
      [
        'messages[0].content[0].cache_control.ttl coerced',
        'messages[1].content[0] dropped',
        'thinking.budget_tokens coerced',
        'tools[0].cache_control dropped',
      ],
      {
        additionalModelRequestFields: {
          inferenceConfig: { topK: 5 },
          reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' },
        },
        messages: [
          { content: [{ text: 'q' }, POINT] },
          { content: [{ toolUse: {} }] },
          { content: [{ toolResult: { status: 'error' } }] },
        ],
      },
    ],
    [
      'openai.gpt-oss-120b-1:0',
      [
        'messages[0].content[0].cache_control dropped',
        'messages[1].content[0] dropped',
        'messages[2].content[0].is_error coerced',
        'thinking.budget_tokens coerced',
        'tools[0].cache_control dropped',
        'top_k dropped',
      ],
      {
        additionalModelRequestFields: { reasoning_effort: 'medium' },
        messages: [
          { content: [{ text: 'q' }] },
          { content: [{ toolUse: {} }] },
          {
            content: [{ toolResult: { content: [{ text: 'The tool failed.' }, { text: 'no such file' }] } }],
          },
        ],
      },
    ],
    [
      'arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-1-70b-instruct-v1:0',
      [
        'messages[0].content[0].cache_control dropped',
        'messages[1].content[0] dropped',
        'messages[2].content[0].is_error coerced',
        'thinking dropped',
        'tools[0].cache_control dropped',
        'top_k dropped',
      ],
      { inferenceConfig: { maxTokens: 4000 } },
    ],
  ])('%s: is reported', (model, report, arrives) => {
    const rendered = renderRequest(parsed('messages', history), { ...TARGET, model });
    expect(reported(rendered)).toEqual(report);
    expect(rendered.body).toMatchObject(arrives);
  });
});

describe('cache marks', () => {
  it('beyond four are taken off from the front', () => {
    const content = ['a', 'b', 'c', 'd'].map((text) => ({ type: 'input_text', text, cache_control: mark }));
    const request = parsed('responses', { ...asked(...content), tools: [{ ...f, cache_control: mark }] });
    const rendered = renderRequest(request, TARGET);
    expect(reported(rendered)).toEqual(['tools[0].cache_control dropped']);
    expect(JSON.stringify(rendered.body).match(/cachePoint/g)).toHaveLength(4);
  });

  it('are not added where the last block has one already', () => {
    const content = ['a', 'b', 'c', 'd'].map((text) => ({ type: 'input_text', text, cache_control: mark }));
    const request = parsed('responses', { ...asked(...content), cache_control: mark });
    expect(renderRequest(request, TARGET).report).toEqual([]);
  });
});

describe('a conversation without content', () => {
  it.each<[Format, JsonObject, string]>([
    ['responses', { input: [{ type: 'acme:web_search', status: 'completed' }] }, 'input'],
    ['chat', { messages: [{ role: 'user', content: ' \n' }] }, 'messages'],
  ])('of a %s request %j is refused', (format, fields, path) => {
    expect(() => renderRequest(parsed(format, fields), TARGET)).toThrow(
      expect.objectContaining({
        kind: 'invalid-request',
        metadata: { issues: [{ path, message: expect.stringContaining('no content') }] },
      }),
    );
  });
});
