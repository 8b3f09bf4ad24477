import { describe, expect, it } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { runAtOnce } from '../../kit/loop/turns.ts';
import { MemoryOutputItems } from './memory-output-items.ts';

const HOUR_MS = 3_600_000;
const [KEY, OTHER_KEY] = ['a'.repeat(64), 'b'.repeat(64)];

function memoryOf(maxBytes = 1_000_000) {
  const clock = new HandClock();
  const bound = { bytes: maxBytes };
  const items = new MemoryOutputItems({ clock, maxBytes: () => bound.bytes });
  const find = async (id: string, key = KEY) => (await items.find(key, new Set([id]))).get(id);
  return { clock, bound, items, find };
}

function message(id: string, text = 'hello'): JsonObject {
  return { id, type: 'message', content: [{ type: 'output_text', text }] };
}

describe('output items in memory', () => {
  it('are found under their ids by the key that was given them, as they were sent', async () => {
    const { items, find } = memoryOf();
    items.keep(KEY, message('msg_1', 'Grüße 🌦 \u2028'));
    expect(await find('msg_1')).toBe(JSON.stringify(message('msg_1', 'Grüße 🌦 \u2028')));
    expect(await find('msg_1', OTHER_KEY)).toBeUndefined();
    expect(await find('msg_2')).toBeUndefined();
  });

  it('are found for an hour, however often they are asked for', async () => {
    const { clock, items, find } = memoryOf();
    items.keep(KEY, message('msg_1'));
    clock.pass(HOUR_MS - 1);
    expect(await find('msg_1')).toBeDefined();
    clock.pass(1);
    expect(await find('msg_1')).toBeUndefined();
    expect(items.bytes).toBe(0);
  });

  it('take no more memory than they may, whatever their size', () => {
    const { items } = memoryOf(100_000);
    for (let index = 0; index < 2_000; index++) {
      items.keep(KEY, message(`msg_${index}`, 'x'.repeat((index * 37) % 20_000)));
      expect(items.bytes).toBeLessThanOrEqual(100_000);
    }
    expect(items.bytes).toBeGreaterThan(50_000);
  });

  it('count two bytes a character beyond ASCII', () => {
    const { items } = memoryOf();
    items.keep(KEY, message('msg_1', 'ж'.repeat(10_000)));
    expect(items.bytes).toBeGreaterThan(20_000);
  });

  it('make place for others when they were not used for longest', async () => {
    const { items, find } = memoryOf(35_000);
    for (const id of ['a', 'b', 'c']) items.keep(KEY, message(id, id.repeat(10_000)));
    expect(await find('a')).toBeDefined();
    items.keep(KEY, message('d', 'd'.repeat(10_000)));
    expect(await find('b')).toBeUndefined();
    for (const id of ['a', 'c', 'd']) expect(await find(id)).toBeDefined();
  });

  it('are not kept where one alone is more than all may be', async () => {
    const { items, find } = memoryOf(5_000);
    items.keep(KEY, message('small'));
    items.keep(KEY, message('large', 'x'.repeat(5_000)));
    expect(await find('large')).toBeUndefined();
    expect(await find('small')).toBeDefined();
  });

  it('are waited for while they are written', async () => {
    const { items, find } = memoryOf();
    const large = message('msg_1', 'x'.repeat(300_000));
    items.keep(KEY, large);
    expect(items.bytes).toBe(0);
    expect(await find('msg_1')).toBe(JSON.stringify(large));
  });

  it('are none where an id was given twice, for different items', async () => {
    const { clock, items, find } = memoryOf();
    items.keep(KEY, message('msg_1', 'first'));
    items.keep(KEY, message('msg_1', 'first'));
    expect(await find('msg_1')).toBeDefined();
    for (const text of ['second', 'second', 'third']) {
      items.keep(KEY, message('msg_1', text));
      expect(await find('msg_1')).toBeUndefined();
    }
    clock.pass(HOUR_MS);
    items.keep(KEY, message('msg_1', 'fourth'));
    expect(await find('msg_1')).toContain('fourth');
  });

  it('are dropped by a sweep when they have expired, or are more than they may be now', () => {
    const { clock, bound, items } = memoryOf();
    for (let index = 0; index < 1_000; index++) items.keep(KEY, message(`old_${index}`));
    clock.pass(HOUR_MS / 2);
    for (let index = 0; index < 10; index++) items.keep(KEY, message(`new_${index}`));
    clock.pass(HOUR_MS / 2);
    const before = items.bytes;
    runAtOnce(items.sweep());
    expect(items.bytes).toBeLessThan(before / 50);
    bound.bytes = 2_000;
    runAtOnce(items.sweep());
    expect(items.bytes).toBeLessThanOrEqual(2_000);
    expect(items.bytes).toBeGreaterThan(0);
  });

  it('are not kept where there is no memory for any, nor without an id', async () => {
    const { items, find, bound } = memoryOf();
    items.keep(KEY, { type: 'message' });
    bound.bytes = 0;
    items.keep(KEY, message('msg_1'));
    expect(items.bytes).toBe(0);
    expect(await find('msg_1')).toBeUndefined();
  });
});
