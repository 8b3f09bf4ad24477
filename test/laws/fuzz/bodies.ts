import { Agent, request } from 'undici';
import { runs } from '../../kit/builders/runs.ts';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { mutate, pick, seededRandom } from './mutate.ts';

const tool = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const image = 'data:image/png;base64,iVBORw0KGgo=';

/** Valid bodies that the mutants descend from, by path. */
const CORPUS: readonly (readonly [path: string, body: object])[] = [
  [
    '/responses',
    {
      model: 'simulator/standard',
      instructions: 'Be brief',
      max_output_tokens: 40,
      temperature: 0.5,
      stream: true,
      input: [
        { role: 'developer', content: 'Speak plainly' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Hi' },
            { type: 'input_image', image_url: image, detail: 'low' },
            { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,QQ==' },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 's' }],
          content: [{ type: 'reasoning_text', text: 't' }],
          signature: 'x',
          format: 'anthropic-claude-v1',
        },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"city":"Oslo"}' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: '17' }] },
        { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'free' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' },
        {
          type: 'message',
          role: 'assistant',
          id: 'msg_1',
          status: 'completed',
          content: [{ type: 'output_text', text: 'x', annotations: [] }],
        },
        { role: 'user', content: 'Go on' },
      ],
      tools: [
        { type: 'function', name: 'f', parameters: tool },
        { type: 'custom', name: 'g' },
        {
          type: 'namespace',
          name: 'n',
          description: 'd',
          tools: [{ type: 'function', name: 'h', parameters: tool }],
        },
        { type: 'web_search' },
      ],
      tool_choice: 'auto',
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'o', schema: tool } },
      metadata: { a: 'b' },
      provider: { order: ['simulator'], sort: { by: 'price' }, max_price: { prompt: '1' } },
      plugins: [{ id: 'web', enabled: false, max_results: 3 }],
      trace: { trace_id: 't' },
      include: ['reasoning.encrypted_content'],
      session_id: 's',
      user: 'u',
    },
  ],
  [
    '/messages',
    {
      model: 'simulator/standard',
      max_tokens: 60,
      stream: true,
      system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 't', signature: 's' },
            { type: 'redacted_thinking', data: 'd' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: '17' }],
              is_error: false,
            },
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
      tools: [
        { name: 'f', input_schema: tool, cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 30 },
      output_config: { effort: 'low' },
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      fallbacks: [{ model: 'simulator/reasoning' }],
      top_k: 3,
    },
  ],
  [
    '/chat/completions',
    {
      model: 'simulator/standard',
      max_tokens: 40,
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
      logprobs: true,
      top_logprobs: 2,
      messages: [
        { role: 'system', content: 'Be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: image } },
            { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            { type: 'reasoning.text', text: 't', signature: 's', format: 'anthropic-claude-v1', index: 0 },
          ],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '17' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: tool } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 'o', schema: tool } },
      stop: ['END'],
      reasoning: { effort: 'low' },
      logit_bias: { 1: 2 },
      provider: { only: ['simulator'] },
      modalities: ['text'],
    },
  ],
  [
    '/responses/compact',
    { model: 'simulator/standard', instructions: 'Be brief', input: [{ role: 'user', content: 'Hi' }] },
  ],
  [
    '/responses/input_tokens',
    {
      model: 'simulator/standard',
      instructions: 'Be brief',
      input: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', name: 'f', parameters: tool }],
    },
  ],
  [
    '/messages/count_tokens',
    {
      model: 'simulator/standard',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', input_schema: tool }],
    },
  ],
];

export interface FuzzReport {
  readonly statuses: Record<number, number>;
  /** What must not happen: a 500, a body that is no envelope, a broken connection, a slow refusal. */
  readonly defects: { readonly path: string; readonly body: string; readonly problem: string }[];
}

/** Sends `count` mutated bodies, a few at a time, and returns the replies. */
export async function fuzzBodies(gateway: TestGateway, count: number, seed: number): Promise<FuzzReport> {
  const random = seededRandom(seed);
  const agent = new Agent({ connections: 8 });
  const statuses: Record<number, number> = {};
  const defects: FuzzReport['defects'][number][] = [];
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      const [path, parent] = pick(random, CORPUS);
      const body = JSON.stringify(mutate(random, parent)) ?? 'null';
      const started = performance.now();
      try {
        const reply = await request(gateway.url + path, {
          method: 'POST',
          dispatcher: agent,
          headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
          body,
        });
        const text = await reply.body.text();
        statuses[reply.statusCode] = (statuses[reply.statusCode] ?? 0) + 1;
        const problem = problemOf(reply.statusCode, text, performance.now() - started);
        if (problem !== undefined) defects.push({ path, body, problem });
      } catch (error) {
        defects.push({ path, body, problem: String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await agent.close();
  return { statuses, defects };
}

/** The suite runs on busy machines: there it only finds what hangs. */
const MAX_REFUSAL_MS = runs(15_000, 1_000);

/** What is wrong with a reply; undefined = nothing. */
export function problemOf(status: number, text: string, milliseconds: number): string | undefined {
  if (status === 200) return undefined;
  if (status >= 500) return `status ${status}: ${text.slice(0, 300)}`;
  if (milliseconds > MAX_REFUSAL_MS) return `refused after ${Math.round(milliseconds)} ms`;
  try {
    const { jsonrpc, error } = JSON.parse(text) as {
      jsonrpc?: string;
      error: { code: number; message: string };
    };
    // Errors of messages to `POST /mcp` are those of JSON-RPC, whose codes are negative.
    const isCode = jsonrpc === '2.0' ? error.code < 0 : error.code === status;
    return isCode && error.message !== '' ? undefined : 'not the envelope';
  } catch {
    return 'not JSON';
  }
}
