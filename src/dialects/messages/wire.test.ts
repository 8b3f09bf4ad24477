import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kit/json/json.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import { countTokensSchema, requestSchema } from './wire.ts';

const validator = compileValidator(requestSchema('acme'));
const counting = compileValidator(countTokensSchema('acme'));

const VALID: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

function withBlock(block: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [block] }] };
}

/** One wrong field each, and the only path that may be named. */
const WRONG: readonly (readonly [path: string, change: JsonObject])[] = [
  ['messages', { messages: null }],
  ['messages', { messages: [] }],
  ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: 5 }] }],
  ['messages[0].content[0].type', withBlock({ text: 'x' })],
  ['messages[0].content[0].text', withBlock({ type: 'text' })],
  ['messages[0].content[0].signature', withBlock({ type: 'thinking', thinking: 'x' })],
  ['messages[0].content[0].tool_use_id', withBlock({ type: 'tool_result' })],
  [
    'messages[0].content[0].content[0].text',
    withBlock({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 4 }] }),
  ],
  ['messages[0].content[0].content', withBlock({ type: 'compaction', content: 4 })],
  ['model', { model: '' }],
  ['max_tokens', { max_tokens: 0 }],
  ['max_tokens', { max_tokens: '10' }],
  ['temperature', { temperature: 2.1 }],
  ['top_p', { top_p: -0.1 }],
  ['top_k', { top_k: 1.5 }],
  ['stop_sequences[1]', { stop_sequences: ['a', 1] }],
  ['stream', { stream: 'yes' }],
  ['speed', { speed: 'slow' }],
  ['metadata.user_id', { metadata: { user_id: 3 } }],
  ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
  ['tool_choice.name', { tool_choice: { type: 'tool' } }],
  ['tools[0].input_schema', { tools: [{ name: 'a' }] }],
  ['tools[0].input_schema.type', { tools: [{ type: 'custom', name: 'a', input_schema: { type: 'array' } }] }],
  ['tools[0].name', { tools: [{ type: 'bash_20250124', name: 'sh' }] }],
  ['tools[0].max_uses', { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 0 }] }],
  ['tools[0].parameters', { tools: [{ type: 'acme:web_search', parameters: 'x' }] }],
  ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
  ['output_config.task_budget.total', { output_config: { task_budget: { type: 'tokens', total: 100 } } }],
  ['fallbacks', { fallbacks: [{ model: 'a' }, { model: 'b' }, { model: 'c' }, { model: 'd' }] }],
  ['session_id', { session_id: 'x'.repeat(257) }],
  ['user', { user: 'x'.repeat(257) }],
  ['stop_server_tools_when', { stop_server_tools_when: [] }],
  ['provider.base_url', { provider: { base_url: 'http://x' } }],
  ['plugins[0].cost_quality_tradeoff', { plugins: [{ id: 'auto-router', cost_quality_tradeoff: 11 }] }],
  ['cache_control.type', { cache_control: { type: 'forever' } }],
  ['route', { route: 'random' }],
];

describe('the messages request schema', () => {
  it.each(WRONG)('names %s and nothing else', (path, change) => {
    expect(validator.issuesOf({ ...VALID, ...change }).map((issue) => issue.path)).toEqual([path]);
  });

  it('takes null for every optional field, and undocumented fields', () => {
    const { messages: _messages, model: _model, ...optional } = requestSchema('acme').properties;
    const nulls = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
    expect(validator.issuesOf({ ...VALID, ...nulls, somebody_elses: 1 })).toEqual([]);
  });

  it('takes what agents send', () => {
    const body = {
      ...VALID,
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' }, extra: 1 }],
        },
        { role: 'system', content: 'be brief' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'a', name: 'b', input: {}, caller: { type: 'direct' } }],
        },
        { role: 'user', content: [{ type: 'novel_block', anything: true }] },
        { role: 'assistant', content: [{ type: 'compaction', content: null, novel: 1 }] },
      ],
      tools: [
        {
          name: 'a',
          input_schema: { type: 'object', $schema: 'x' },
          eager_input_streaming: true,
          defer_loading: true,
        },
        { type: 'novel_tool_20300101', name: 'x' },
      ],
      thinking: { type: 'adaptive', display: 'summarized' },
    };
    expect(validator.issuesOf(body)).toEqual([]);
  });

  it('takes values that it does not know where the gateway does not act on them', () => {
    const cached = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '2h' } };
    const unknown: JsonObject[] = [
      withBlock(cached),
      withBlock({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: '' } }),
      withBlock({ type: 'document', source: { type: 'ftp' } }),
      withBlock({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'x' }] }),
      withBlock({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'browser_state', tabs: [] }] }),
      withBlock({ type: 'text', text: 'x', citations: [{ type: 'x' }] }),
      { messages: [{ role: 'system', clear_at: 'tomorrow', output_config: { effort: 'utmost' } }] },
      { system: [{ type: 'image' }] },
      { thinking: { type: 'maybe' } },
      { thinking: { type: 'adaptive', display: 'loud' } },
      { tool_choice: { type: 'function' } },
      { output_config: { effort: 'minimal', format: { type: 'xml' } } },
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919', trigger: { type: 'x' } }] } },
      { context_management: { edits: [{ type: 'forget_everything' }] } },
      { fallbacks: 'default' },
      { fallbacks: [{ model: 'a', max_tokens: 5, provider: {} }] },
      { service_tier: 'express' },
    ];
    for (const change of unknown) expect(validator.issuesOf({ ...VALID, ...change })).toEqual([]);
  });

  it('does not look at the output limit when tokens are only counted', () => {
    expect(counting.issuesOf({ ...VALID, max_tokens: 'many' })).toEqual([]);
    expect(counting.issuesOf({ model: 'm' }).map((issue) => issue.path)).toEqual(['messages']);
  });
});
