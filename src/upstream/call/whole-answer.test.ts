import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { Event } from '../../ir/events.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { MemoryBudget } from '../../kit/loop/memory-budget.ts';
import { TurnQueue } from '../../kit/loop/turn-queue.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import { AnswerMemory } from './answer-memory.ts';
import { WholeAnswer } from './whole-answer.ts';

const finish: Event = { type: 'finish', reason: 'stop' };

const PLENTY = new MemoryBudget(() => Number.POSITIVE_INFINITY);
const NEVER = new AbortController().signal;

/** An answer whose bytes come in chunks of a given size. */
function open(
  bytes: Buffer,
  chunkBytes: number,
  decode: (body: JsonObject) => Event[],
  stream = false,
  memory = new AnswerMemory(PLENTY, { signal: NEVER }),
  logProbabilities = 'logprobs',
) {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return new WholeAnswer({
    status: 200,
    chunks: chunks(),
    memory,
    signal: new AbortController().signal,
    scope: {
      provider: { name: 'acme' },
      confidential: { secrets: [], host: undefined },
      readError: () => undefined,
      now: () => 0,
    },
    turns: new TurnQueue(8),
    dialect: { decodeBody: decode, echoes: new Set(['tools']), logProbabilities },
    context: { request: requestOf({ stream }), relay: false },
  });
}

/** What becomes of an answer: the body that is decoded, or why none is. */
async function outcomeOf(
  body: unknown,
  chunkBytes = 64 * 1024,
  logProbabilities?: string,
): Promise<JsonObject | string> {
  let outcome: JsonObject | string = 'nothing';
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const decode = (decoded: JsonObject) => {
    outcome = decoded;
    return [finish];
  };
  const answer = open(bytes, chunkBytes, decode, false, undefined, logProbabilities);
  const { value: batch } = await answer.next();
  expect(await answer.next()).toEqual({ done: true, value: undefined });
  const [event] = batch ?? [];
  if (event?.type !== 'failure') return outcome;
  return [event.error.message, event.error.metadata?.raw].filter((said) => said !== undefined).join(': ');
}

const list = (length: number, entry: unknown = 1) => Array.from({ length }, () => entry);

describe('a whole answer', () => {
  it.each([1, 7, 64 * 1024])('is the same in chunks of %i bytes', async (chunkBytes) => {
    const body = { text: 'wörld 😀', more: [{ a: 1 }, 'b'] };
    expect(await outcomeOf(body, chunkBytes)).toEqual(body);
  });

  it.each([
    { stream: false, sizes: [301], who: 'whole to those who write nothing before the end' },
    { stream: true, sizes: [128, 128, 45], who: 'in portions to those who write as it comes' },
  ])('is handed on $who', async ({ stream, sizes }) => {
    const text: Event = { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'x' };
    const events = [...Array.from({ length: 300 }, () => text), finish];
    const handedOn: number[] = [];
    for await (const batch of open(Buffer.from('{}'), 2, () => events, stream)) handedOn.push(batch.length);
    expect(handedOn).toEqual(sizes);
  });

  it('may be large: one long text, many log probabilities', async () => {
    const long = { text: 'x\n'.repeat(1_000_000) };
    expect(await outcomeOf(long)).toEqual(long);
    const entry = { token: 'a', logprob: -1, bytes: [97] };
    const rich = { logprobs: { content: list(2_000, { ...entry, top_logprobs: list(20, entry) }) } };
    expect(await outcomeOf(rich)).toEqual(rich);
    const candidates = list(2_000, { candidates: list(20, { token: 'a', logProbability: -1 }) });
    const wide = { candidates: [{ logprobsResult: { topCandidates: candidates } }] };
    expect(await outcomeOf(wide, undefined, 'logprobsResult')).toEqual(wide);
  });

  it('holds no more values than a model could write', async () => {
    const refused = 'the answer holds more than 100000 values';
    expect(await outcomeOf({ content: list(99_999) })).toMatchObject({ content: expect.any(Array) });
    expect(await outcomeOf({ content: list(100_001) })).toContain(refused);
    expect(await outcomeOf({ content: list(40_000, { type: 'text', text: 'x' }) })).toContain(refused);
  });

  it('may repeat a request that holds more', async () => {
    const echo = { content: 'x', tools: [{ parameters: { enum: list(150_000) } }] };
    expect(await outcomeOf(echo)).toEqual(echo);
  });

  it.each([
    ['[1]', 'the answer is not a JSON object'],
    ['{"a":', 'not valid JSON'],
    [
      '{"error":{"message":"m"}}',
      'the provider sent an error instead of an answer: {"error":{"message":"m"}}',
    ],
  ])('is none: %s', async (body, cause) => {
    expect(await outcomeOf(body)).toContain(cause);
  });
});

it('a large answer waits until the reply of another has left', async () => {
  const budget = new MemoryBudget(() => 1_000);
  const bytes = Buffer.from(JSON.stringify({ text: 'x'.repeat(400_000) }));
  const left: (() => void)[] = [];
  const replied = () => new Promise<void>((resolve) => void left.push(resolve));
  const memory = () => new AnswerMemory(budget, { signal: NEVER, replied });
  const read: string[] = [];
  const answer = (name: string) =>
    open(
      bytes,
      64 * 1024,
      () => {
        read.push(name);
        return [finish];
      },
      false,
      memory(),
    ).next();
  await answer('first');
  const second = answer('second');
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(read).toEqual(['first']);
  left[0]?.();
  await second;
  expect(read).toEqual(['first', 'second']);
  left[1]?.();
  await nextTurn();
  expect(budget.takenBytes).toBe(0);
});
