import { describe, expect, it } from 'vitest';
import type { Format } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { messages } from '../messages/index.ts';
import { responses } from '../responses/index.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { chat } from './index.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

/**
 * Everything a caller can say to a chat upstream arrives, or is in the report at the place where the caller said it.
 */

const TARGET: RenderTarget = { model: 'm', hashUser: (id) => `hash(${id})` };
const INBOUND = { responses: responses.inbound, messages: messages.inbound, chat: chat.inbound };
const LEAST: Readonly<Record<Format, JsonObject>> = {
  responses: { model: 'a/b', input: 'Hi' },
  messages: { model: 'a/b', max_tokens: 4000, messages: [{ role: 'user', content: 'Hi' }] },
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

const f = { type: 'function', name: 'f', parameters: { type: 'object' } };
const mark = { type: 'ephemeral' };
const said = (...content: JsonObject[]) => ({ messages: [{ role: 'user', content }] });
const asked = (...content: JsonObject[]) => ({ input: [{ role: 'user', content }] });
const PNG = 'data:image/png;base64,AAAA';

const RESPONSES: readonly Row[] = [
  // Settings
  [{ temperature: 0.1, top_p: 0.2, top_k: 3 }, [], { temperature: 0.1, top_p: 0.2, top_k: 3 }],
  [{ frequency_penalty: 1, presence_penalty: 1 }, [], { frequency_penalty: 1, presence_penalty: 1 }],
  [{ max_output_tokens: 9 }, [], { max_tokens: 9 }],
  [{ top_logprobs: 2 }, [], { logprobs: true, top_logprobs: 2 }],
  [{ include: ['message.output_text.logprobs'] }, [], { logprobs: true }],
  [
    { include: ['message.output_text.logprobs', 'reasoning.encrypted_content'] },
    ['include[1] dropped'],
    { logprobs: true },
  ],
  [{ reasoning: { effort: 'high' } }, [], { reasoning_effort: 'high' }],
  [{ reasoning: { enabled: true } }, [], { reasoning_effort: 'medium' }],
  [{ reasoning: { enabled: false } }, [], { reasoning_effort: 'none' }],
  [{ reasoning: { max_tokens: 26000 } }, ['reasoning.max_tokens coerced'], { reasoning_effort: 'high' }],
  [
    { reasoning: { effort: 'low', max_tokens: 2000 } },
    ['reasoning.max_tokens dropped'],
    { reasoning_effort: 'low' },
  ],
  [
    { reasoning: { summary: 'auto', context: 'auto', mode: 'pro' } },
    ['reasoning.context dropped', 'reasoning.mode dropped', 'reasoning.summary dropped'],
  ],
  [{ reasoning: { exclude: true } }, []],
  [{ reasoning: { novelty: 1 } }, ['reasoning.novelty dropped']],
  [{ text: { format: { type: 'json_object' } } }, [], { response_format: { type: 'json_object' } }],
  [
    { text: { format: { type: 'json_schema', name: 'n', schema: {}, description: 'd', strict: true } } },
    [],
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: {}, description: 'd', strict: true },
      },
    },
  ],
  [{ text: { verbosity: 'low' } }, [], { verbosity: 'low' }],
  [{ modalities: ['text', 'image'] }, [], { modalities: ['text', 'image'] }],
  [{ image_config: { size: '1K' } }, [], { image_config: { size: '1K' } }],
  [{ prompt_cache_key: 'k' }, [], { prompt_cache_key: 'k' }],
  [{ prompt_cache_options: { mode: 'explicit' } }, ['prompt_cache_options dropped']],
  [{ prompt_cache_retention: '24h' }, ['prompt_cache_retention dropped']],
  [{ stream_options: { include_obfuscation: false } }, ['stream_options.include_obfuscation dropped']],
  [{ service_tier: 'fast' }, [], { service_tier: 'priority' }],
  [{ truncation: 'auto' }, ['truncation dropped']],
  [{ truncation: 'disabled' }, []],
  [{ metadata: { team: 'blue' } }, ['metadata dropped']],
  [{ user: 'ann', safety_identifier: 'bob' }, [], { user: 'hash(ann)' }],
  [{ max_tool_calls: 3 }, ['max_tool_calls dropped']],
  [{ cache_control: mark }, ['cache_control dropped']],
  [{ instructions: 'Rules' }, [], { messages: [{ role: 'system', content: 'Rules' }, { role: 'user' }] }],
  [{ novelty: 1 }, ['novelty dropped']],
  [{ provider: { order: ['x'] }, models: ['c/d'], session_id: 's', trace: {}, store: false }, []],
  [{ stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 1 }], route: 'sort' }, []],
  [{ plugins: [{ id: 'web', enabled: false }], background: false }, []],

  // Tools
  [{ tools: [{ ...f, strict: true }] }, [], { tools: [{ function: { name: 'f', strict: true } }] }],
  [
    { tools: [{ type: 'namespace', name: 'n', description: 'Group', tools: [f, { ...f, name: 'g' }] }] },
    ['tools[0].description dropped'],
    { tools: [{ function: { name: 'n__f' } }, { function: { name: 'n__g' } }] },
  ],
  [
    {
      tools: [
        { type: 'namespace', name: 'n', description: '', tools: [f, { ...f, name: 'g' }] },
        { type: 'web_search' },
        { ...f, cache_control: mark, defer_loading: true },
      ],
    },
    ['tools[1] dropped', 'tools[2].cache_control dropped', 'tools[2].defer_loading dropped'],
  ],
  [
    {
      tools: [{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }],
    },
    ['tools[0].format coerced'],
    { tools: [{ function: { name: 'c', parameters: { required: ['input'] } } }] },
  ],
  [{ tools: [{ type: 'custom', name: 'c', format: { type: 'text' } }] }, []],
  [
    { tools: [{ ...f, name: 'a.b c' }], tool_choice: { type: 'function', name: 'a.b c' } },
    ['tools[0].name renamed'],
    { tools: [{ function: { name: 'a_b_c' } }], tool_choice: { function: { name: 'a_b_c' } } },
  ],
  [
    {
      tools: [
        { ...f, name: 'a.b' },
        { ...f, name: 'a_b' },
      ],
    },
    ['tools[0].name renamed'],
    { tools: [{ function: { name: 'a_b_2' } }, { function: { name: 'a_b' } }] },
  ],
  [{ tools: [f], tool_choice: 'required', parallel_tool_calls: false }, [], { parallel_tool_calls: false }],
  [{ tools: [{ type: 'web_search' }], tool_choice: 'auto' }, ['tools[0] dropped']],
  [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, ['tool_choice dropped', 'tools[0] dropped']],
  [
    { tools: [f, { type: 'shell' }], tool_choice: { type: 'shell' } },
    ['tool_choice dropped', 'tools[1] dropped'],
  ],
  [
    {
      tools: [f, { type: 'shell' }],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'shell' }, { type: 'function', name: 'f' }],
      },
    },
    ['tool_choice.tools[0] dropped', 'tools[1] dropped'],
    { tool_choice: { allowed_tools: { mode: 'auto', tools: [{ function: { name: 'f' } }] } } },
  ],
  [
    {
      tools: [f, { type: 'shell' }],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'shell' }] },
    },
    ['tool_choice dropped', 'tools[1] dropped'],
  ],

  // Items and parts
  [
    asked(
      { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'input_text', text: 'b', cache_control: mark },
      { type: 'input_image', image_url: PNG, detail: 'low', cache_control: mark },
      { type: 'input_image', file_id: 'x' },
      { type: 'input_file', file_url: 'https://x.y/z.pdf' },
      { type: 'input_file', file_id: 'file-1', filename: 'z.pdf' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'input_video', video_url: 'https://x.y/v' },
    ),
    [
      'input[0].content[0].prompt_cache_breakpoint dropped',
      'input[0].content[1].cache_control dropped',
      'input[0].content[2].cache_control dropped',
      'input[0].content[3] dropped',
      'input[0].content[4] coerced',
    ],
    {
      messages: [
        {
          content: [
            { text: 'a' },
            { text: 'b' },
            { image_url: { url: PNG, detail: 'low' } },
            { file: { file_data: 'https://x.y/z.pdf' } },
            { file: { file_id: 'file-1', filename: 'z.pdf' } },
            { input_audio: { data: 'AAAA', format: 'mp3' } },
            { video_url: { url: 'https://x.y/v' } },
          ],
        },
      ],
    },
  ],
  [
    {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'AAAA' },
        { type: 'reasoning', summary: [] },
        {
          role: 'assistant',
          id: 'msg_1',
          status: 'completed',
          phase: 'commentary',
          content: [
            { type: 'output_text', text: 'Yes', annotations: [{ type: 'url_citation', url: 'https://x.y' }] },
            { type: 'output_text', text: 'No', annotations: [], logprobs: [{ token: 'No', logprob: -1 }] },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'old tool', arguments: '{}', id: 'fc_1' },
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [
            { type: 'input_text', text: 'seen' },
            { type: 'input_image', image_url: PNG },
          ],
        },
        { type: 'web_search_call', id: 'ws', status: 'completed' },
        { type: 'image_generation_call', id: 'ig', status: 'completed', result: 'AAAA', prompt: 'a cat' },
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }, f] },
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] },
      ],
    },
    [
      'input[1] dropped',
      'input[3].content[0].annotations dropped',
      'input[3].content[1].logprobs dropped',
      'input[3].phase dropped',
      'input[4].name renamed',
      'input[5] coerced',
      'input[6] dropped',
      'input[7].prompt dropped',
      'input[8] coerced',
      'input[8].tools[0] dropped',
    ],
    { tools: [{ function: { name: 'f' } }] },
  ],
];

const MESSAGES: readonly Row[] = [
  // Settings
  [{ temperature: 0.1, top_p: 0.2, top_k: 3 }, [], { temperature: 0.1, top_p: 0.2, top_k: 3 }],
  [{ stop_sequences: ['END'] }, [], { stop: ['END'] }],
  [
    {
      output_config: {
        effort: 'low',
        format: { type: 'json_schema', schema: {} },
        task_budget: { type: 'tokens', total: 20000 },
      },
    },
    ['output_config.task_budget dropped'],
    { reasoning_effort: 'low', response_format: { type: 'json_schema' } },
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 3000 } },
    ['thinking.budget_tokens coerced'],
    { reasoning_effort: 'high' },
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 3000 }, output_config: { effort: 'low' } },
    ['thinking.budget_tokens dropped'],
    { reasoning_effort: 'low' },
  ],
  [
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    ['thinking.display dropped', 'thinking.type dropped'],
    { reasoning_effort: 'high' },
  ],
  [{ thinking: { type: 'adaptive', display: 'omitted' } }, ['thinking.type dropped']],
  [
    { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
    ['output_config.effort dropped'],
    { reasoning_effort: 'none' },
  ],
  [{ context_management: { edits: [] } }, ['context_management dropped']],
  [{ metadata: { user_id: 'ann', team: 'blue' } }, ['metadata.team dropped'], { user: 'hash(ann)' }],
  [{ speed: 'fast' }, ['speed coerced'], { service_tier: 'priority' }],
  [{ speed: 'standard' }, []],
  [{ speed: 'fast', service_tier: 'priority' }, [], { service_tier: 'priority' }],
  [{ speed: 'fast', service_tier: 'flex' }, ['speed dropped'], { service_tier: 'flex' }],
  [{ service_tier: 'standard_only' }, ['service_tier dropped']],
  [{ max_tool_calls: 3, novelty: 1 }, ['max_tool_calls dropped', 'novelty dropped']],
  [{ cache_control: mark }, ['cache_control dropped']],
  [{ fallbacks: [{ model: 'c/d' }] }, []],
  [
    { system: [{ type: 'text', text: 'Rules', cache_control: mark }] },
    ['system[0].cache_control dropped'],
    { messages: [{ role: 'system', content: 'Rules' }, { role: 'user' }] },
  ],

  // Tools
  [
    {
      tools: [
        { name: 'f', input_schema: { type: 'object' }, cache_control: mark, allowed_callers: ['x'] },
        { type: 'bash_20250124', name: 'bash' },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
    ['tools[0].allowed_callers dropped', 'tools[0].cache_control dropped', 'tools[1] dropped'],
    { tool_choice: 'required', parallel_tool_calls: false },
  ],
  [
    { tools: [{ type: 'bash_20250124', name: 'bash' }], tool_choice: { type: 'tool', name: 'bash' } },
    ['tool_choice dropped', 'tools[0] dropped'],
  ],

  // Blocks
  [
    said(
      { type: 'text', text: 'a', cache_control: mark, citations: [] },
      {
        type: 'search_result',
        source: 'https://x.y',
        title: 'Found',
        content: [{ type: 'text', text: 'words' }],
        citations: { enabled: true },
        cache_control: mark,
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'body' },
        title: 'T',
        context: 'C',
        citations: { enabled: false },
      },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
        title: 'T.pdf',
        context: 'C',
        citations: { enabled: true },
      },
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'inner' },
            { type: 'image', source: { type: 'url', url: 'https://x.y/i' } },
          ],
        },
      },
      { type: 'image', source: { type: 'file', file_id: 'x' } },
    ),
    [
      'messages[0].content[0].cache_control dropped',
      'messages[0].content[1] coerced',
      'messages[0].content[1].cache_control dropped',
      'messages[0].content[1].citations dropped',
      'messages[0].content[2] coerced',
      'messages[0].content[3].citations dropped',
      'messages[0].content[3].context dropped',
      'messages[0].content[4] coerced',
      'messages[0].content[4].source.content[1] dropped',
      'messages[0].content[5] dropped',
    ],
    {
      messages: [
        {
          content: [
            { text: 'a' },
            { text: 'Found\nhttps://x.y\nwords' },
            { text: 'T\nC\nbody' },
            { file: { filename: 'T.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
            { text: 'inner' },
          ],
        },
      ],
    },
  ],
  [
    {
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 's' },
            { type: 'redacted_thinking', data: 'x' },
            { type: 'text', text: 'Yes', citations: [{ type: 'char_location', cited_text: 'x' }] },
            {
              type: 'tool_use',
              id: 't',
              name: 'f',
              input: {},
              caller: { type: 'direct' },
              cache_control: mark,
            },
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              is_error: true,
              cache_control: mark,
              content: [
                { type: 'text', text: 'bad' },
                { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'w' }] },
                { type: 'tool_reference', tool_name: 'f' },
              ],
            },
          ],
        },
      ],
    },
    [
      'messages[1].content[0] dropped',
      'messages[1].content[1] dropped',
      'messages[1].content[2].citations dropped',
      'messages[1].content[3].cache_control dropped',
      'messages[1].content[4] dropped',
      'messages[2].content[0].cache_control dropped',
      'messages[2].content[0].content[1] coerced',
      'messages[2].content[0].content[2] coerced',
      'messages[2].content[0].is_error coerced',
    ],
    {
      messages: [
        { role: 'user' },
        { role: 'assistant', content: 'Yes', tool_calls: [{ id: 't' }] },
        {
          role: 'tool',
          content: [
            { text: 'The tool failed.' },
            { text: 'bad' },
            { text: 't\ns\nw' },
            { text: 'The tool f can be called now.' },
          ],
        },
      ],
    },
  ],
];

const CHAT: readonly Row[] = [
  [
    { prediction: { type: 'content', content: 'x' }, web_search_options: {}, audio: { voice: 'v' } },
    [],
    { prediction: { type: 'content', content: 'x' }, web_search_options: {}, audio: { voice: 'v' } },
  ],
  [
    { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
    [],
    { stream_options: { include_usage: true, include_obfuscation: false } },
  ],
  [{ max_tool_calls: 3 }, ['max_tool_calls dropped']],
  [{ reasoning_effort: 'low', reasoning: { max_tokens: 9 } }, ['reasoning.max_tokens dropped']],
  [
    { reasoning: { novelty: 1 }, debug: { echo_upstream_body: true } },
    ['debug dropped', 'reasoning.novelty dropped'],
  ],
  [
    {
      tools: [
        {
          type: 'custom',
          custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'x' } } },
        },
        { type: 'function', function: { name: 'a b' } },
        { type: 'hosted_kind', x: 1 },
      ],
    },
    ['tools[0].custom.format coerced', 'tools[1].function.name renamed'],
    { tools: [{ function: { name: 'c' } }, { function: { name: 'a_b' } }, { type: 'hosted_kind', x: 1 }] },
  ],
  [
    {
      messages: [
        { role: 'system', content: 'Rules', name: 'n' },
        {
          role: 'assistant',
          content: 'Yes',
          reasoning: 'Hm',
          reasoning_details: [
            {
              type: 'reasoning.text',
              text: 'Hm',
              signature: wrapSeal({ signature: 's', format: 'anthropic-claude-v1' }),
              format: 'anthropic-claude-v1',
              index: 0,
            },
          ],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'assistant', content: 'Well', reasoning: 'Hm' },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'a', cache_control: mark }] },
      ],
    },
    [
      'messages[1].reasoning_details dropped',
      'messages[2].reasoning dropped',
      'messages[3].content[0].cache_control dropped',
    ],
  ],
  [
    {
      messages: [
        {
          role: 'assistant',
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'ours', id: 'a', format: 'google-gemini-v1' },
            {
              type: 'reasoning.encrypted',
              data: wrapSeal({ signature: 'theirs', format: 'google-gemini-v1' }),
              id: 'b',
              format: 'google-gemini-v1',
            },
          ],
          tool_calls: ['a', 'b'].map((id) => ({ id, function: { name: 'f', arguments: '{}' } })),
        },
        ...['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
      ],
    },
    ['messages[0].tool_calls[1].signature dropped'],
    {
      messages: [
        {
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'ours', id: 'a', format: 'google-gemini-v1' },
          ],
        },
        {},
        {},
      ],
    },
  ],
];

describe.each([
  ['responses', RESPONSES],
  ['messages', MESSAGES],
  ['chat', CHAT],
] as const)('a %s request translated for a chat upstream', (format, rows) => {
  const named = rows.map(([fields, report, arrives = {}]) => ({
    request: JSON.stringify(fields),
    fields,
    report,
    arrives,
  }));

  it.each(named)('$request', ({ fields, report, arrives }) => {
    const rendered = renderRequest(parsed(format, fields), TARGET);
    expect(reported(rendered)).toEqual([...report].sort());
    expect(rendered.body).toMatchObject(arrives);
  });
});

describe('an endpoint that takes little', () => {
  const target: RenderTarget = { ...TARGET, supportedParameters: new Set(['max_tokens', 'cache_control']) };

  it('leaves no wrong entry in the report', () => {
    const fields = {
      temperature: 1,
      include: ['message.output_text.logprobs'],
      reasoning: { max_tokens: 100, exclude: true },
      tools: [{ ...f, name: 'a b' }],
      tool_choice: 'required',
    };
    expect(reported(renderRequest(parsed('responses', fields), target))).toEqual([
      'include[0] dropped',
      'reasoning.max_tokens dropped',
      'temperature dropped',
      'tool_choice dropped',
      'tools dropped',
    ]);
    expect(reported(renderRequest(parsed('responses', { top_logprobs: 2 }), target))).toEqual([
      'top_logprobs dropped',
    ]);
    expect(reported(renderRequest(parsed('messages', { output_config: { effort: 'low' } }), target))).toEqual(
      ['output_config.effort dropped'],
    );
    expect(reported(renderRelay(parsed('chat', { reasoning_effort: 'low' }), target))).toEqual([
      'reasoning_effort dropped',
    ]);
  });

  it('gets the marks that it takes, where it takes them', () => {
    const { body, report } = renderRequest(
      parsed('messages', {
        messages: [
          {
            role: 'assistant',
            content: ['t', 'u'].map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't', content: 'ok', cache_control: mark },
              { type: 'tool_result', tool_use_id: 'u', cache_control: mark },
              {
                type: 'search_result',
                source: 's',
                title: 't',
                content: [{ type: 'text', text: 'w' }],
                cache_control: mark,
              },
            ],
          },
        ],
      }),
      target,
    );
    expect(body.messages).toMatchObject([
      {},
      { content: [{ text: 'ok', cache_control: mark }] },
      { content: '' },
      { content: [{ text: 't\ns\nw', cache_control: mark }] },
    ]);
    expect(report.map(({ field }) => field)).toEqual([
      'messages[1].content[1].cache_control',
      'messages[1].content[2]',
    ]);
  });

  it('reports if there is no text for the automatic mark', () => {
    const image = { type: 'image_url', image_url: { url: PNG } };
    const request = parsed('chat', { ...said(image), cache_control: mark });
    expect(reported(renderRequest(request, target))).toEqual(['cache_control dropped']);
  });
});

describe('the relay lane', () => {
  const wrapped = (format: string) => wrapSeal({ signature: 'theirs', format });
  const ours = { type: 'reasoning.encrypted', data: 'ours', format: 'acme-v1', index: 0, odd: null };
  const bare = { type: 'reasoning.text', text: 'bare', signature: 's', index: 1 };
  const passedOn = {
    type: 'reasoning.text',
    text: 'x',
    signature: 's',
    format: 'anthropic-claude-v1',
    index: 5,
  };
  const unsigned = { type: 'reasoning.text', text: 'y', format: 'anthropic-claude-v1', index: 6 };
  const gemini = { type: 'reasoning.encrypted', data: 'd', id: 'c1', format: 'google-gemini-v1' };
  const anthropic = {
    type: 'reasoning.text',
    signature: wrapped('anthropic-claude-v1'),
    format: 'anthropic-claude-v1',
    index: 2,
  };
  const untold = { type: 'reasoning.text', text: 'of the same thought', index: 2 };
  const openai = { type: 'reasoning.encrypted', data: wrapped('openai-responses-v1'), id: 'rs_1' };
  const ofCall = { type: 'reasoning.encrypted', data: wrapped('google-gemini-v1'), id: 'c1' };
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

  it('sends no seals that upstreams of other dialects gave', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'text',
        reasoning_details: [ours, bare, untold, anthropic, openai, ofCall],
        tool_calls: [call],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'assistant', content: 'Yes', reasoning_content: 'text', reasoning_details: [openai] },
    ];
    const request = parsed('chat', { messages });
    const before = JSON.stringify(request.body);
    const rendered = renderRelay(request, TARGET);
    expect(rendered.body.messages).toEqual([
      messages[0],
      { role: 'assistant', content: null, reasoning_details: [ours, bare], tool_calls: [call] },
      messages[2],
      { role: 'assistant', content: 'Yes' },
    ]);
    expect(reported(rendered)).toEqual([
      'messages[1].reasoning dropped',
      'messages[1].reasoning_details dropped',
      'messages[3].reasoning_content dropped',
      'messages[3].reasoning_details dropped',
    ]);
    expect(JSON.stringify(request.body)).toBe(before);
  });

  it('leaves thoughts of chat upstreams unchanged, whatever format they name', () => {
    const messages = [
      { role: 'assistant', content: 'a', reasoning: 'text', reasoning_details: [ours, bare] },
      { role: 'assistant', content: 'a', reasoning: 'x', reasoning_details: [passedOn, unsigned] },
      { role: 'assistant', content: null, reasoning_details: [gemini], tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: '7' },
      { role: 'assistant', content: 'b', reasoning: 'text' },
    ];
    const rendered = renderRelay(parsed('chat', { messages }), TARGET);
    expect(rendered.body.messages).toBe(messages);
    expect(rendered.report).toEqual([]);
  });

  it('reports what speaks to a gateway that cannot do it yet', () => {
    const rendered = renderRelay(
      parsed('chat', { max_tool_calls: 2, reasoning: { effort: 'low', novelty: 1 }, 'a.b': 1 }),
      TARGET,
    );
    expect(reported(rendered)).toEqual([
      'a.b passed_on',
      'max_tool_calls dropped',
      'reasoning.novelty dropped',
    ]);
    expect(rendered.body).toMatchObject({ reasoning_effort: 'low', 'a.b': 1 });
  });
});
