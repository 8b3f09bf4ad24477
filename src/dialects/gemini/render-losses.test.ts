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

/**
 * Everything a caller can say to an upstream of this dialect arrives, or is in the report at the place where it was
 * said.
 */

const TARGET: RenderTarget = { model: 'gemini-2.5-flash', hashUser: (id) => `hash(${id})` };
const INBOUND = { responses: responses.inbound, messages: messages.inbound, chat: chat.inbound };
const LEAST: Readonly<Record<Format, JsonObject>> = {
  responses: { model: 'a/b', input: 'Hi' },
  messages: { model: 'a/b', max_tokens: 50_000, messages: [{ role: 'user', content: 'Hi' }] },
  chat: { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }] },
};

function parsed(format: Format, fields: JsonObject): GenerationRequest {
  return INBOUND[format].parseRequest({ ...LEAST[format], ...fields }, { vendor: 'acme' });
}

/** Request, report entries, and the rendered body. */
type Row = readonly [fields: JsonObject, report: readonly string[], arrives?: JsonObject];

const f: JsonObject = { type: 'function', name: 'f', parameters: { type: 'object' } };
const mark: JsonObject = { type: 'ephemeral' };
const PNG = 'data:image/png;base64,AAAA';
const NATIVE_PNG: JsonObject = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const schema: JsonObject = { type: 'object' };
const config = (generationConfig: JsonObject): JsonObject => ({ generationConfig });
const parts = (...list: JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts: list }] });
const asked = (...content: JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
const said = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });

const RESPONSES: readonly Row[] = [
  // Settings
  [{ temperature: 0.1, top_p: 0.2, top_k: 3 }, [], config({ temperature: 0.1, topP: 0.2, topK: 3 })],
  [{ frequency_penalty: 1, presence_penalty: 1 }, [], config({ frequencyPenalty: 1, presencePenalty: 1 })],
  [
    { include: ['message.output_text.logprobs'], top_logprobs: 2 },
    [],
    config({ responseLogprobs: true, logprobs: 2 }),
  ],
  [{ max_output_tokens: 9 }, [], config({ maxOutputTokens: 9 })],
  [{ include: ['reasoning.encrypted_content', 'web_search_call.results'] }, ['include[1] dropped']],
  [{ reasoning: { effort: 'none' } }, [], config({ thinkingConfig: { thinkingBudget: 0 } })],
  [{ reasoning: { effort: 'low', summary: 'concise' } }, ['reasoning.summary dropped']],
  [
    { reasoning: { context: 'all_turns', mode: 'pro' } },
    ['reasoning.context dropped', 'reasoning.mode dropped'],
  ],
  [
    { reasoning: { enabled: false, effort: 'high', max_tokens: 5 } },
    ['reasoning.effort dropped', 'reasoning.max_tokens dropped'],
  ],
  [{ reasoning: { novelty: 1 } }, ['reasoning.novelty dropped']],
  [{ text: { format: { type: 'text' } } }, []],
  [{ text: { format: { type: 'json_object' } } }, [], config({ responseMimeType: 'application/json' })],
  [
    { text: { format: { type: 'json_schema', name: 'n', schema, description: 'd', strict: true } } },
    ['text.format.description coerced', 'text.format.name dropped', 'text.format.strict dropped'],
    config({ responseJsonSchema: { description: 'd', type: 'object' } }),
  ],
  [{ text: { verbosity: 'low', novelty: 1 } }, ['text.novelty dropped', 'text.verbosity dropped']],
  [{ modalities: ['text'] }, []],
  [{ modalities: ['text', 'image'] }, [], config({ responseModalities: ['TEXT', 'IMAGE'] })],
  [
    { image_config: { size: '1K', aspect_ratio: '1:1' } },
    ['image_config.size dropped'],
    config({ imageConfig: { aspectRatio: '1:1' } }),
  ],
  [{ prompt_cache_key: 'k' }, ['prompt_cache_key dropped']],
  [{ prompt_cache_options: { mode: 'explicit' } }, ['prompt_cache_options dropped']],
  [{ stream_options: { include_obfuscation: false } }, ['stream_options.include_obfuscation dropped']],
  [{ service_tier: 'auto' }, []],
  [{ service_tier: 'flex' }, [], { serviceTier: 'flex' }],
  [{ service_tier: 'priority' }, [], { serviceTier: 'priority' }],
  [{ service_tier: 'scale' }, ['service_tier dropped']],
  [{ truncation: 'auto' }, ['truncation dropped']],
  [{ truncation: 'disabled' }, []],
  [{ metadata: { team: 'blue' } }, ['metadata dropped']],
  [{ user: 'ann', safety_identifier: 'bob' }, []],
  [{ max_tool_calls: 3 }, ['max_tool_calls dropped']],
  [{ cache_control: mark }, ['cache_control dropped']],
  [{ instructions: 'Rules' }, [], { systemInstruction: { parts: [{ text: 'Rules' }] } }],
  [{ novelty: 1 }, ['novelty dropped']],
  [{ provider: { order: ['x'] }, models: ['c/d'], session_id: 's', trace: {}, store: false }, []],
  // Tools
  [
    { tools: [f], tool_choice: 'required', parallel_tool_calls: false },
    ['parallel_tool_calls dropped'],
    { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  ],
  [{ tools: [f], parallel_tool_calls: true }, []],
  [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, ['tool_choice dropped', 'tools[0] dropped']],
  [
    { tools: [{ type: 'web_search' }, f], tool_choice: { type: 'web_search_preview' } },
    ['tool_choice dropped', 'tools[0] dropped'],
  ],
  [
    {
      tools: [f, { type: 'web_search' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [f, { type: 'web_search' }] },
    },
    ['tool_choice.tools[1] dropped', 'tools[1] dropped'],
    { toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['f'] } } },
  ],
  [
    {
      tools: [
        { type: 'namespace', name: 'n', description: 'Group', tools: [f, { ...f, name: 'g', strict: true }] },
        { ...f, name: 'a.b c', defer_loading: true },
        { type: 'custom', name: 'free', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        { ...f, name: 'h', cache_control: mark },
      ],
    },
    [
      'tools[0].description dropped',
      'tools[0].tools[1].strict dropped',
      'tools[1].defer_loading dropped',
      'tools[1].name renamed',
      'tools[2].format coerced',
      'tools[3].cache_control dropped',
    ],
    {
      tools: [
        {
          functionDeclarations: [
            { name: 'n__f' },
            { name: 'n__g' },
            { name: 'a_b_c' },
            { name: 'free' },
            { name: 'h' },
          ],
        },
      ],
    },
  ],
  // Content
  [
    asked(
      { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'input_text', text: 'y', cache_control: mark },
      { type: 'input_image', image_url: PNG, detail: 'high' },
      { type: 'input_image', image_url: 'https://a.example/i.png', detail: 'auto' },
      { type: 'input_image', file_id: 'file-1' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'input_video', video_url: 'https://a.example/v.mp4' },
    ),
    [
      'input[0].content[0].prompt_cache_breakpoint dropped',
      'input[0].content[1].cache_control dropped',
      'input[0].content[2].detail dropped',
      'input[0].content[4] dropped',
      'input[0].content[5].filename dropped',
    ],
    parts(
      { text: 'x' },
      { text: 'y' },
      NATIVE_PNG,
      { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/i.png' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://a.example/v.mp4' } },
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
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'Be brief' },
      ],
    },
    ['input[0].content[0] dropped', 'input[2] coerced'],
    {
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [
        { parts: [{ text: 'Hi' }, { text: '<system>' }, { text: 'Be brief' }, { text: '</system>' }] },
      ],
    },
  ],
  // Items
  [
    {
      input: [
        { role: 'user', content: 'Hi' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm' }],
          encrypted_content: 'E',
        },
        { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'E' },
        {
          type: 'message',
          role: 'assistant',
          phase: 'commentary',
          content: [
            {
              type: 'output_text',
              text: 'Yes',
              annotations: [
                { type: 'url_citation', url: 'https://a.example', start_index: 0, end_index: 1, title: 't' },
              ],
              logprobs: [],
            },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: 'oops' },
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [
            { type: 'input_text', text: 'R' },
            { type: 'input_image', image_url: PNG },
          ],
        },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      ],
    },
    [
      'input[1].encrypted_content dropped',
      'input[2] dropped',
      'input[3].content[0].annotations dropped',
      'input[3].phase dropped',
      'input[4].arguments coerced',
      'input[5] coerced',
      'input[6] dropped',
    ],
    {
      contents: [
        { parts: [{ text: 'Hi' }] },
        {
          role: 'model',
          parts: [
            { text: 'Hm', thought: true },
            { text: 'Yes' },
            { functionCall: { name: 'f', args: { raw: 'oops' } } },
          ],
        },
        { parts: [{ functionResponse: { name: 'f', response: { output: 'R' } } }] },
        { parts: [{ text: 'Output of tool call c:' }, NATIVE_PNG] },
      ],
    },
  ],
  [
    {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'additional_tools', role: 'developer', tools: [f, { type: 'web_search' }] },
      ],
    },
    ['input[1] coerced', 'input[1].tools[1] dropped'],
    { tools: [{ functionDeclarations: [{ name: 'f' }] }] },
  ],
];

const MESSAGES: readonly Row[] = [
  [
    { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] },
    ['stop_sequences coerced'],
    config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] }),
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 30_000 } },
    ['thinking.budget_tokens coerced'],
    config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 } }),
  ],
  [{ thinking: { type: 'disabled' } }, [], config({ thinkingConfig: { thinkingBudget: 0 } })],
  [
    { thinking: { type: 'adaptive', display: 'omitted' } },
    [],
    config({ thinkingConfig: { thinkingBudget: -1 } }),
  ],
  [
    {
      output_config: {
        effort: 'low',
        format: { type: 'json_schema', schema },
        task_budget: { type: 'tokens', total: 1 },
      },
    },
    ['output_config.task_budget dropped'],
    config({ thinkingConfig: { thinkingBudget: 10_000 }, responseJsonSchema: schema }),
  ],
  [{ speed: 'fast' }, ['speed dropped']],
  [{ service_tier: 'standard_only' }, []],
  [{ metadata: { user_id: 'ann' } }, []],
  [{ context_management: { edits: [] } }, ['context_management dropped']],
  [
    { system: [{ type: 'text', text: 's', cache_control: mark }] },
    ['system[0].cache_control dropped'],
    { systemInstruction: { parts: [{ text: 's' }] } },
  ],
  [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, ['tools[0] dropped']],
  [
    {
      tools: [{ name: 'f', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    },
    ['tool_choice.disable_parallel_tool_use dropped'],
    { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
  ],
  [
    said(
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'T' }, title: 'a.txt' },
      { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'found' }] },
      { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' }, cache_control: mark },
    ),
    [
      'messages[0].content[0] coerced',
      'messages[0].content[1] coerced',
      'messages[0].content[2].cache_control dropped',
    ],
    parts(
      { text: 'a.txt\nT' },
      { text: 't\ns\nfound' },
      { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/i.png' } },
    ),
  ],
  [
    {
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'S' },
            { type: 'redacted_thinking', data: 'R' },
            { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 }, cache_control: mark },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: 'Boom', is_error: true, cache_control: mark },
          ],
        },
      ],
    },
    [
      'messages[1].content[0].signature dropped',
      'messages[1].content[1] dropped',
      'messages[1].content[2].cache_control dropped',
      'messages[2].content[0].cache_control dropped',
    ],
    {
      contents: [
        {},
        { parts: [{ text: 'Hm', thought: true }, { functionCall: { name: 'f', args: { a: 1 } } }] },
        { parts: [{ functionResponse: { name: 'f', response: { error: 'Boom' } } }] },
      ],
    },
  ],
];

const CHAT: readonly Row[] = [
  [
    { top_a: 0.5, min_p: 0.1, repetition_penalty: 1.5, logit_bias: { 1: 2 } },
    ['logit_bias dropped', 'min_p dropped', 'repetition_penalty dropped', 'top_a dropped'],
  ],
  [{ top_a: 0, min_p: 0, repetition_penalty: 1, logit_bias: {} }, []],
  [
    { seed: 5, stop: 'x', logprobs: true, top_logprobs: 2 },
    [],
    config({ seed: 5, stopSequences: ['x'], responseLogprobs: true, logprobs: 2 }),
  ],
  [{ max_completion_tokens: 9 }, [], config({ maxOutputTokens: 9 })],
  [{ reasoning_effort: 'none' }, [], config({ thinkingConfig: { thinkingBudget: 0 } })],
  [{ response_format: { type: 'grammar', grammar: 'x' } }, ['response_format dropped']],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: false } } },
    ['response_format.json_schema.name dropped', 'response_format.json_schema.strict coerced'],
    config({ responseJsonSchema: schema }),
  ],
  [{ modalities: ['text', 'audio'], audio: { voice: 'v' } }, ['audio dropped', 'modalities coerced']],
  [
    { prediction: { type: 'content', content: 'x' }, verbosity: 'high', service_tier: 'scale' },
    ['prediction dropped', 'service_tier dropped', 'verbosity dropped'],
  ],
  [
    said(
      { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'http://a.example/i.png' } },
    ),
    [
      'messages[0].content[0].image_url.detail dropped',
      'messages[0].content[1].file.filename dropped',
      'messages[0].content[2] dropped',
    ],
    parts(NATIVE_PNG, { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }),
  ],
  [
    {
      messages: [
        { role: 'user', content: 'Hi', name: 'Ann' },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            {
              type: 'reasoning.text',
              text: 'Hm',
              signature: wrapSeal({ signature: 'S', format: 'anthropic-claude-v1' }),
              format: 'anthropic-claude-v1',
              index: 0,
            },
            { type: 'reasoning.encrypted', data: 'foreign', id: 'c', format: 'openai-responses-v1' },
          ],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'R' },
      ],
    },
    [
      'messages[0].name dropped',
      'messages[1].reasoning_details coerced',
      'messages[1].reasoning_details dropped',
      'messages[1].tool_calls[0].function.arguments coerced',
    ],
    {
      contents: [
        {},
        { parts: [{ text: 'Hm', thought: true }, { functionCall: { name: 'f', args: { raw: '{' } } }] },
        { parts: [{ functionResponse: { name: 'f', response: { output: 'R' } } }] },
      ],
    },
  ],
];

describe.each([
  ['responses', RESPONSES],
  ['messages', MESSAGES],
  ['chat', CHAT],
] as const)('what callers of the %s format say', (format, rows) => {
  const cases = (rows as readonly Row[]).map(([fields, report, arrives = {}]) => ({
    fields,
    report,
    arrives,
  }));

  it.each(cases)('$fields', ({ fields, report, arrives }) => {
    const rendered = renderRequest(parsed(format, fields), TARGET);
    expect(rendered.report.map(({ field, action }) => `${field} ${action}`).sort()).toEqual(report);
    expect(rendered.body).toMatchObject(arrives);
  });
});
