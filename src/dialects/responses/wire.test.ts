import { describe, expect, it } from 'vitest';
import { compileValidator } from '../../kit/json/validate.ts';
import { requestSchema } from './wire.ts';

const validator = compileValidator(requestSchema('acme'));
const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

/** One wrong field each: the field, and the one issue it must give. */
const WRONG: readonly (readonly [object, string, string])[] = [
  [{ model: 5 }, 'model', 'must be a string or null'],
  [{ input: 5 }, 'input', 'must be a string or an array or null'],
  [{ input: [{}] }, 'input[0].role', 'is required'],
  [
    { input: [{ role: 'tool' }] },
    'input[0].role',
    'must be one of "user", "system", "assistant", "developer"',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
    'input[0].content[0].text',
    'is required',
  ],
  [{ input: [{ type: 'function_call', call_id: 'a', name: 'b' }] }, 'input[0].arguments', 'is required'],
  [{ input: [{ type: 'reasoning' }] }, 'input[0].summary', 'is required'],
  [
    { input: [{ type: 'mcp_approval_response', approval_request_id: 'a' }] },
    'input[0].approve',
    'is required',
  ],
  [{ store: true }, 'store', 'must be false: nothing is stored here'],
  [{ max_output_tokens: 0 }, 'max_output_tokens', 'must be >= 1'],
  [{ max_output_tokens: 1e308 }, 'max_output_tokens', 'must be <= 2147483647'],
  [{ temperature: 2.1 }, 'temperature', 'must be <= 2'],
  [{ top_p: -0.1 }, 'top_p', 'must be >= 0'],
  [{ top_k: 1.5 }, 'top_k', 'must be an integer or null'],
  [{ frequency_penalty: -3 }, 'frequency_penalty', 'must be >= -2'],
  [{ top_logprobs: 21 }, 'top_logprobs', 'must be <= 20'],
  [{ metadata: pairs(17) }, 'metadata', 'must have at most 16 keys'],
  [
    { metadata: { ['k'.repeat(65)]: 'v' } },
    `metadata.${'k'.repeat(65)}`,
    'key must have at most 64 characters',
  ],
  [{ metadata: { 'a[0]': 'v' } }, 'metadata["a[0]"]', 'key must match ^[^\\[\\]]*$'],
  [{ metadata: { a: 'v'.repeat(513) } }, 'metadata.a', 'must have at most 512 characters'],
  [{ metadata: { a: 1 } }, 'metadata.a', 'must be a string'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].name', 'is required'],
  [{ tools: [{ name: 'x' }] }, 'tools[0].type', 'is required'],
  [
    { tools: [{ type: 'acme:web_search', parameters: 5 }] },
    'tools[0].parameters',
    'must be an object or null',
  ],
  [{ tools: [{ type: 'file_search' }] }, 'tools[0].vector_store_ids', 'is required'],
  [
    { tools: [{ type: 'file_search', vector_store_ids: [], filters: { type: 'eq', key: 'a' } }] },
    'tools[0].filters.value',
    'is required',
  ],
  [
    {
      tools: [
        {
          type: 'file_search',
          vector_store_ids: [],
          filters: { type: 'and', filters: [{ type: 'or', filters: [{ type: 'gt', value: 1 }] }] },
        },
      ],
    },
    'tools[0].filters.filters[0].filters[0].key',
    'is required',
  ],
  [
    {
      input: [
        {
          type: 'web_search_call',
          status: 'completed',
          action: { type: 'search', queries: ['q'], sources: [{ type: 'url' }] },
        },
      ],
    },
    'input[0].action.sources[0].url',
    'is required',
  ],
  [
    {
      input: [
        { type: 'web_search_call', status: 'completed', action: { type: 'find_in_page', pattern: 'p' } },
      ],
    },
    'input[0].action.url',
    'is required',
  ],
  [
    {
      input: [
        {
          type: 'computer_call',
          call_id: 'c',
          status: 'completed',
          pending_safety_checks: [{ code: null }],
        },
      ],
    },
    'input[0].pending_safety_checks[0].id',
    'is required',
  ],
  [
    { input: [{ type: 'code_interpreter_call', status: 'completed', outputs: [{ type: 'logs' }] }] },
    'input[0].outputs[0].logs',
    'is required',
  ],
  [
    { input: [{ type: 'code_interpreter_call', status: 'completed', outputs: [{ type: 'image' }] }] },
    'input[0].outputs[0].url',
    'is required',
  ],
  [
    { provider: { sort: { by: 'x' } } },
    'provider.sort.by',
    'must be one of "price", "throughput", "latency", "exacto" or null',
  ],
  [{ tool_choice: 7 }, 'tool_choice', 'must be one of "auto", "none", "required" or a string'],
  [{ tool_choice: { type: 'function' } }, 'tool_choice.name', 'is required'],
  [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema', 'is required'],
  [{ reasoning: { max_tokens: 0 } }, 'reasoning.max_tokens', 'must be >= 1'],
  [{ prompt: {} }, 'prompt.id', 'is required'],
  [{ provider: { base_url: 'x' } }, 'provider.base_url', 'is not a known field'],
  [
    { plugins: [{ id: 'auto-router', cost_quality_tradeoff: 11 }] },
    'plugins[0].cost_quality_tradeoff',
    'must be <= 10',
  ],
  [{ user: 'u'.repeat(257) }, 'user', 'must have at most 256 characters'],
  [{ session_id: 's'.repeat(257) }, 'session_id', 'must have at most 256 characters'],
  [{ cache_control: { type: 'permanent' } }, 'cache_control.type', 'must be "ephemeral"'],
  [{ image_config: { size: {} } }, 'image_config.size', 'must be a string or a number or an array'],
  [{ stop_server_tools_when: [] }, 'stop_server_tools_when', 'must have at least 1 item'],
  [{ debug: { echo_upstream_body: 'yes' } }, 'debug.echo_upstream_body', 'must be a boolean or null'],
];

const FIELDS_WITH_NULL = [
  'background',
  'frequency_penalty',
  'include',
  'instructions',
  'max_output_tokens',
  'metadata',
  'plugins',
  'prompt',
  'provider',
  'reasoning',
  'route',
  'service_tier',
  'store',
  'stream',
  'text',
  'tool_choice',
  'tools',
  'truncation',
];

describe('requestSchema', () => {
  it.each(WRONG)('refuses %s with one exact issue', (field, path, message) => {
    expect(validator.issuesOf({ model: 'm', input: 'hi', ...field })).toEqual([{ path, message }]);
  });

  it('names every allowed value of an enumeration', () => {
    const [issue] = validator.issuesOf({ model: 'm', input: 'hi', route: 'bogus' });
    expect(issue?.path).toBe('route');
    expect(issue?.message).toMatch(/^must be one of "/);
  });

  it('takes null for absent', () => {
    const nulls = Object.fromEntries(FIELDS_WITH_NULL.map((name) => [name, null]));
    expect(validator.issuesOf({ model: 'm', input: 'hi', ...nulls })).toEqual([]);
  });

  it('lets through what it does not know, except in provider and plugins', () => {
    const body = {
      model: 'm',
      client_metadata: { a: 1 },
      input: [
        { type: 'brand_new_item', x: 1 },
        { type: 'acme:web_search', status: 'completed' },
        { role: 'user', content: 'hi', extra: true },
      ],
      tools: [{ type: 'brand_new_tool' }, { type: 'function', name: 'f', defer_loading: true }],
    };
    expect(validator.issuesOf(body)).toEqual([]);
  });

  it('takes replayed items as stateless clients send them, without ids', () => {
    const input = [
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'web_search_call', status: 'completed', action: { type: 'search', queries: ['q'] } },
      { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
      { type: 'computer_call', call_id: 'c', status: 'completed', pending_safety_checks: [{ id: 'i' }] },
      { type: 'code_interpreter_call', status: 'completed', outputs: [{ type: 'file', file_id: 'f' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ];
    expect(validator.issuesOf({ model: 'm', input })).toEqual([]);
  });
});
