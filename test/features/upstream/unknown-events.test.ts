import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { sse } from '../../kit/fakes/answers.ts';
import { end, head, type Script, SSE, write } from '../../kit/fakes/fake-upstream.ts';
import { openToolGateway, type Path, type ToolGateway } from '../tools/tool-gateway.ts';

/** Events of an upstream of the caller's format that the gateway does not model: all of them arrive, in order. */

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway();
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

function streamed(...values: readonly JsonObject[]): Script {
  return [head(200, SSE), write(sse(values.map((data) => ({ event: String(data.type), data })))), end()];
}

async function events(path: Path, body: object): Promise<any[]> {
  const model = path === '/responses' ? 'm/responses' : 'm/messages';
  const read = await tools.stream(path, model, body);
  return read.map(({ data }) => data).filter((data) => data !== '[DONE]' && data.type !== 'ping');
}

/** A tool that the gateway runs: its answers are translated, and its legs are joined. */
const GATEWAY_TOOL = { tools: [{ type: 'signalbox:datetime' }] };

// --- Responses ------------------------------------------------------------------------------------------------------

const SHELL = { type: 'shell_call', id: 'sh_1', call_id: 'c1', action: { commands: [] } };
const COMPACTION = { type: 'compaction', id: 'cmp_1', encrypted_content: 'e' };
const NEWS = { type: 'item_of_next_year', id: 'new_1', status: 'in_progress' };

/** An answer whose items stand from an index of the upstream's on. */
function shellAnswer(from: number, before: readonly JsonObject[] = []): Script {
  const at = (index: number, item_id: string) => ({ output_index: from + index, item_id });
  const item = (step: string, index: number, value: JsonObject) => ({
    type: `response.output_item.${step}`,
    output_index: from + index,
    item: value,
  });
  return streamed(
    { type: 'keepalive', sequence_number: 3 },
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'codex.rate_limits', plan: 'x' },
    ...before,
    item('added', 0, SHELL),
    { type: 'response.shell_call_command.added', ...at(0, 'sh_1'), command_index: 0, command: '' },
    { type: 'response.shell_call_command.delta', output_index: from, command_index: 0, delta: 'ls' },
    { type: 'response.apply_patch_call_operation_diff.delta', ...at(0, 'sh_1'), delta: '+' },
    item('done', 0, { ...SHELL, status: 'completed' }),
    { type: 'response.shell_call_output_content.delta', ...at(0, 'sh_1'), delta: { stdout: 'a' } },
    item('added', 1, COMPACTION),
    { type: 'response.compaction.compacting', ...at(1, 'cmp_1') },
    item('done', 1, COMPACTION),
    item('added', 2, NEWS),
    {
      type: 'response.content_part.added',
      ...at(2, 'new_1'),
      content_index: 0,
      part: { type: 'output_text' },
    },
    { type: 'response.output_text.delta', ...at(2, 'new_1'), content_index: 0, delta: 'News' },
    { type: 'response.output_text.done', ...at(2, 'new_1'), content_index: 0, text: 'News' },
    item('done', 2, { ...NEWS, status: 'completed' }),
    { type: 'response.audio.delta', delta: 'AAAA' },
    { type: 'response.steer.failed', error: { message: 'too late' } },
    { type: 'response.made_up/2027', stage: { of: 'many' } },
    { type: 'x\nevent: y' },
    {
      type: 'response.completed',
      response: { id: 'r', status: 'completed', output: [], usage: { input_tokens: 3, output_tokens: 2 } },
    },
  );
}

/** What arrives of `shellAnswer`, with the caller's numbers. */
function arrives(from: number): unknown[] {
  const at = (index: number, item_id: string) => ({ output_index: from + index, item_id });
  const item = (step: string, index: number, value: JsonObject) => ({
    type: `response.output_item.${step}`,
    output_index: from + index,
    item: expect.objectContaining(value),
  });
  return [
    item('added', 0, { id: 'sh_1' }),
    { type: 'response.shell_call_command.added', ...at(0, 'sh_1'), command_index: 0, command: '' },
    { type: 'response.shell_call_command.delta', output_index: from, command_index: 0, delta: 'ls' },
    { type: 'response.apply_patch_call_operation_diff.delta', ...at(0, 'sh_1'), delta: '+' },
    item('done', 0, { id: 'sh_1' }),
    { type: 'response.shell_call_output_content.delta', ...at(0, 'sh_1'), delta: { stdout: 'a' } },
    item('added', 1, { id: 'cmp_1' }),
    { type: 'response.compaction.compacting', ...at(1, 'cmp_1') },
    item('done', 1, { id: 'cmp_1' }),
    item('added', 2, { id: 'new_1' }),
    expect.objectContaining({ type: 'response.content_part.added', ...at(2, 'new_1') }),
    expect.objectContaining({ type: 'response.output_text.delta', ...at(2, 'new_1'), delta: 'News' }),
    expect.objectContaining({ type: 'response.output_text.done', ...at(2, 'new_1'), text: 'News' }),
    item('done', 2, { id: 'new_1' }),
    { type: 'response.audio.delta', delta: 'AAAA' },
    { type: 'response.steer.failed', message: 'too late' },
    { type: 'response.made_up/2027', stage: { of: 'many' } },
  ];
}

const OPENING = [
  expect.objectContaining({ type: 'response.created' }),
  expect.objectContaining({ type: 'response.in_progress' }),
];
const EARLY = [{ type: 'keepalive' }, { type: 'codex.rate_limits', plan: 'x' }];
const COMPLETED = expect.objectContaining({ type: 'response.completed' });

describe('a stream in the responses format', () => {
  it.each([
    ['relayed', {}],
    ['translated', GATEWAY_TOOL],
  ])('has every event, numbered without a gap: %s', async (_, body) => {
    tools.upstream.answer(shellAnswer(0));
    const values = await events('/responses', body);
    expect(values.map(({ sequence_number: number }) => number)).toEqual(values.map((_each, index) => index));
    const shown = values.map(({ sequence_number: _number, ...rest }) => rest);
    expect(shown).toEqual([...OPENING, ...EARLY, ...arrives(0), COMPLETED]);
  });

  it('names items by their places in the answer where legs before had some, and shows none of own calls', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'c0', name: 'datetime', arguments: '{}' };
    tools.upstream.answer(
      streamed(
        { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item: call },
        { type: 'response.call_of_next_year.step', output_index: 0, item_id: 'fc_1' },
        { type: 'response.output_item.done', output_index: 0, item: call },
        {
          type: 'response.completed',
          response: {
            id: 'r',
            status: 'completed',
            output: [call],
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
      ),
    );
    // The upstream counts from 4 on, and what is about an item that never began keeps no number of its own.
    tools.upstream.answer(shellAnswer(4, [{ type: 'response.odd', output_index: 9, item_id: 'nothing' }]));
    const values = await events('/responses', GATEWAY_TOOL);
    expect(values.map(({ sequence_number: number }) => number)).toEqual(values.map((_each, index) => index));
    const shown = values.map(({ sequence_number: _number, ...rest }) => rest);
    expect(shown).not.toContainEqual(expect.objectContaining({ type: 'response.call_of_next_year.step' }));
    const begun = shown.findIndex(({ item }) => item?.id === 'sh_1');
    expect(shown.slice(begun - 3)).toEqual([...EARLY, { type: 'response.odd' }, ...arrives(1), COMPLETED]);
  });

  it('hides what is about thoughts that the caller does not want', async () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
    const answer = () =>
      streamed(
        { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item: thought },
        { type: 'response.thought_of_next_year.delta', output_index: 0, item_id: 'rs_1', delta: 'secret' },
        { type: 'response.output_item.done', output_index: 0, item: thought },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [thought] } },
      );
    for (const more of [{}, GATEWAY_TOOL]) {
      tools.upstream.answer(answer());
      const values = await events('/responses', { reasoning: { exclude: true }, ...more });
      expect(JSON.stringify(values)).not.toContain('next_year');
    }
  });

  it('goes to callers of other formats without them', async () => {
    tools.upstream.answer(shellAnswer(0));
    const read = await tools.stream('/messages', 'm/responses', {});
    expect(JSON.stringify(read)).not.toMatch(/made_up|keepalive|codex/);
  });
});

// --- Messages -------------------------------------------------------------------------------------------------------

const at = (index: number) => ({ index });
const start = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  ...at(index),
  content_block,
});
const delta = (index: number, given: JsonObject) => ({
  type: 'content_block_delta',
  ...at(index),
  delta: given,
});
const stop = (index: number) => ({ type: 'content_block_stop', ...at(index) });

function messageOf(...values: readonly JsonObject[]): Script {
  const usage = { input_tokens: 3, output_tokens: 2 };
  return streamed(
    { type: 'before_the_message', early: true },
    { type: 'message_start', message: { id: 'm', role: 'assistant', model: 'x', content: [], usage } },
    ...values,
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  );
}

const NEW_BLOCK = { type: 'block_of_next_year', id: 'b' };

const BLOCKS: readonly JsonObject[] = [
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'mood_delta', mood: 'calm' }),
  delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
  delta(0, { type: 'signature_delta', signature: 'c2VhbA==' }),
  stop(0),
  start(1, { type: 'text', text: '', citations: [] }),
  delta(1, { type: 'tone_delta', tone: 'dry' }),
  delta(1, { type: 'text_delta', text: 'Fine.' }),
  delta(1, { type: 'tone_delta', tone: 'warm' }),
  { type: 'block_progress', index: 1, done: 0.5 },
  stop(1),
  start(2, NEW_BLOCK),
  delta(2, { type: 'delta_of_next_year', piece: 'a' }),
  stop(2),
  { type: 'message_progress', done: 1 },
  { type: 'x\nevent: y' },
];

/** The same with blocks from an index on. */
const arrivingBlocks = (from: number) =>
  BLOCKS.filter(({ type }) => type !== 'x\nevent: y').map((value) =>
    typeof value.index === 'number' ? { ...value, index: value.index + from } : value,
  );

const SIGNED = [
  expect.objectContaining({ type: 'message_delta' }),
  expect.objectContaining({ type: 'message_stop' }),
];

describe('a stream in the messages format', () => {
  it.each([
    ['relayed', {}],
    ['translated', GATEWAY_TOOL],
  ])('has every event and delta, in its block: %s', async (_, body) => {
    tools.upstream.answer(messageOf(...BLOCKS));
    const [begun, ...values] = await events('/messages', body);
    expect(begun.type).toBe('message_start');
    const expected = [{ type: 'before_the_message', early: true }, ...arrivingBlocks(0), ...SIGNED];
    expect(values).toEqual(expected);
  });

  it('names blocks by their places in the answer where a leg before had some', async () => {
    tools.upstream.answer(
      messageOf(
        start(0, { type: 'text', text: '' }),
        delta(0, { type: 'text_delta', text: 'Let me see.' }),
        stop(0),
        start(1, { type: 'tool_use', id: 't', name: 'datetime', input: {} }),
        delta(1, { type: 'tone_delta', tone: 'hidden' }),
        stop(1),
      ),
    );
    tools.upstream.answer(messageOf(...BLOCKS));
    const values = await events('/messages', GATEWAY_TOOL);
    expect(JSON.stringify(values)).not.toContain('hidden');
    const from = values.find(({ content_block: block }) => block?.type === 'thinking').index;
    expect(from).toBe(1);
    const begun = values.findIndex(({ content_block: block }) => block?.type === 'thinking');
    expect(values.slice(begun)).toEqual([...arrivingBlocks(from), ...SIGNED]);
  });
});
