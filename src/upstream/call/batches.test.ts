import { describe, expect, it } from 'vitest';
import type { StreamDecoder } from '../../dialects/dialect.ts';
import type { Event } from '../../ir/events.ts';
import { SseReader } from '../../kit/frames/sse.ts';
import { MemoryBudget } from '../../kit/loop/memory-budget.ts';
import { TurnQueue } from '../../kit/loop/turn-queue.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import { AnswerMask } from './answer-mask.ts';
import { AnswerMemory } from './answer-memory.ts';
import { Batches, streamReader } from './batches.ts';

const text = (piece: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text: piece });
const item = (place: number): Event => ({ type: 'item-start', item: place, head: { type: 'message' } });
const finish: Event = { type: 'finish', reason: 'stop' };

/** A dialect of one word per frame. */
function decoderOf(meaning: (word: string) => Event[]): StreamDecoder {
  return { decode: ({ data }) => (data === 'end' ? [finish] : meaning(data)), end: () => [] };
}

const PLENTY = new MemoryBudget(() => Number.POSITIVE_INFINITY);

function open(words: string, meaning: (word: string) => Event[], budget = PLENTY, mask?: AnswerMask) {
  const turns = new TurnQueue(8);
  let turnsTaken = 0;
  let isClosed = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from(words);
    } finally {
      isClosed = true;
    }
  }
  const batches = new Batches(
    {
      status: 200,
      chunks: chunks(),
      memory: new AnswerMemory(budget, { signal: new AbortController().signal }),
      signal: new AbortController().signal,
      scope: {
        provider: { name: 'Acme' },
        confidential: { secrets: [], host: undefined },
        readError: () => undefined,
        now: () => 0,
      },
      turns: Object.assign(turns, {
        next: () => {
          turnsTaken++;
          return TurnQueue.prototype.next.call(turns);
        },
      }),
    },
    streamReader(new SseReader(), decoderOf(meaning), mask && { mask }),
  );
  return { batches, turnsTaken: () => turnsTaken, isClosed: () => isClosed };
}

async function sizesOf(batches: Batches): Promise<number[]> {
  const sizes: number[] = [];
  for await (const batch of batches) sizes.push(batch.length);
  return sizes;
}

async function lastOf(batches: Batches): Promise<Event | undefined> {
  let last: Event | undefined;
  for await (const batch of batches) last = batch.at(-1);
  return last;
}

const MANY = Array.from({ length: 300 }, () => text('x'));

describe('an event with many meanings', () => {
  const words = 'data: many\n\ndata: end\n\n';

  it('is passed on in portions, with turns of other streams between', async () => {
    const { batches, turnsTaken } = open(words, () => MANY);
    expect(await sizesOf(batches)).toEqual([128, 128, 45]);
    expect(turnsTaken()).toBe(2);
  });

  it('is forgotten when the reader leaves', async () => {
    const { batches, isClosed } = open('data: many\n\n', () => MANY);
    await batches.next();
    const pending = batches.next();
    await batches.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await batches.next()).toEqual({ done: true, value: undefined });
    expect(isClosed()).toBe(true);
  });
});

describe('an answer', () => {
  const repeated = (word: string, count: number) => `data: ${word}\n\n`.repeat(count);
  const meaning = (word: string) => (word === 'text' ? [text('x')] : []);

  it('fails when it goes on without content', async () => {
    const { batches } = open(repeated('silence', 100_001) + repeated('end', 1), meaning);
    expect(await lastOf(batches)).toMatchObject({
      type: 'failure',
      error: { message: 'Provider returned error: the answer goes on without content' },
    });
  });

  it.each([
    ['ends early', ''],
    ['is broken', `data: ${'x'.repeat(9 * 1024 * 1024)}`],
  ])('that %s keeps the text that may have been the beginning of a secret', async (_, rest) => {
    const mask = AnswerMask.of({ keys: ['upstream-secret-8f3a9b2c7d1e'] });
    const { batches } = open(`data: ups\n\ndata: tream-\n\n${rest}`, (word) => [text(word)], PLENTY, mask);
    const events: Event[] = [];
    for await (const batch of batches) events.push(...batch);
    expect(events).toEqual([text('ups'), text('tream-'), expect.objectContaining({ type: 'failure' })]);
  });

  it('may be silent for long, again and again', async () => {
    const silence = repeated('silence', 60_000);
    const { batches } = open(silence + repeated('text', 1) + silence + repeated('end', 1), meaning);
    expect(await lastOf(batches)).toEqual(finish);
  });

  it('that comes in large chunks is read in pieces that end with their frames', async () => {
    const frame = `data: ${'word '.repeat(20)}\n\n`;
    const { batches } = open(`${frame.repeat(1000)}data: end\n\n`, (word) => [text(word)]);
    const inPiece = Math.floor(4096 / frame.length);
    const sizes = await sizesOf(batches);
    expect(sizes.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => inPiece));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1001);
  });

  it('has no more items than a model could write', async () => {
    let place = 0;
    const { batches } = open(repeated('item', 20_001) + repeated('end', 1), () => [item(place++)]);
    expect(await lastOf(batches)).toMatchObject({
      type: 'failure',
      error: { message: 'Provider returned error: the answer has more than 20000 items and parts' },
    });
  });
});

it('a huge event waits for memory that another answer has, and gives its own back', async () => {
  const budget = new MemoryBudget(() => 1_000);
  const other = budget.open('other');
  other.tryGrowTo(1_000);
  const { batches } = open(`data: ${'x'.repeat(600_000)}\n\ndata: end\n\n`, () => [text('x')], budget);
  let isRead = false;
  const sizes = sizesOf(batches).finally(() => {
    isRead = true;
  });
  for (let turn = 0; turn < 300; turn++) await nextTurn();
  expect(isRead).toBe(false);
  other.free();
  expect((await sizes).length).toBeGreaterThan(0);
  expect(budget.takenBytes).toBe(0);
});
