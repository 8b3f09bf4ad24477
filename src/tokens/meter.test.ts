import { describe, expect, it } from 'vitest';
import type { Event } from '../ir/events.ts';
import { NO_USAGE } from '../ir/usage.ts';
import { Meter } from './meter.ts';

const say = (text: string): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text });

describe('the meter', () => {
  it('takes short pieces for tokens', () => {
    const meter = new Meter();
    meter.push(Array.from({ length: 20 }, () => say('a')));
    meter.push([say('')]);
    expect(meter.pieces).toBe(20);
    expect(meter.outputTokens).toBe(20);
    meter.push(Array.from({ length: 20 }, () => say('longer ')));
    expect(meter.outputTokens).toBe(40);
  });

  it('takes long pieces by their characters, inside relayed frames too', () => {
    const meter = new Meter();
    const inner: Event[] = [
      say('x'.repeat(400)),
      { type: 'tool-input-delta', item: 1, text: 'y'.repeat(40) },
    ];
    meter.push([{ type: 'relay', dialect: 'chat', frame: { data: '' }, value: {}, events: inner }]);
    expect(meter.outputTokens).toBe(110);
    expect(meter.uncountedTokens).toBe(147);
  });

  it('has what came in counted, at least a token for each piece', async () => {
    const meter = new Meter();
    meter.push([say('word 1 '), say('word 2 ')]);
    const counting = meter.count(async (text) => {
      expect(text).toBe('word 1 word 2 ');
      return 6;
    });
    meter.push([say('word 3 ')]);
    expect(meter.outputTokens).toBe(3);
    await counting;
    expect(meter.outputTokens).toBe(7);
    expect(meter.uncountedTokens).toBe(3);
    await meter.count(async () => 0);
    expect(meter.outputTokens).toBe(7);
    expect(meter.uncountedTokens).toBe(0);
  });

  it('has a sample counted of what came in faster than it was counted', async () => {
    const meter = new Meter();
    for (let index = 0; index < 1000; index++) meter.push([say('four words are here '.repeat(10))]);
    await meter.count(async (text) => {
      expect(text.length).toBeLessThan(10_000);
      return text.length / 5;
    });
    expect(meter.outputTokens).toBe(40_000);
  });

  it('does not take what cannot be true', () => {
    const meter = new Meter(() => undefined);
    meter.push([
      say('one'),
      { type: 'usage', usage: { ...NO_USAGE, outputTokens: 900, source: 'measured' } },
    ]);
    expect(meter.outputTokens).toBe(1);
    expect(meter.isReported).toBe(false);
    expect(meter.usage(5)).toMatchObject({ inputTokens: 5, outputTokens: 1, source: 'estimated' });
  });

  it('knows that much has come since the upstream said what it used', () => {
    const meter = new Meter();
    const some = Array.from({ length: 16 }, () => say('a'));
    const usage: Event = { type: 'usage', usage: { ...NO_USAGE, outputTokens: 9, source: 'measured' } };
    meter.push([...some, ...some]);
    expect(meter.isOutdated).toBe(false);
    meter.push([usage, ...some]);
    expect(meter.isOutdated).toBe(false);
    meter.push([say('a')]);
    expect(meter.isOutdated).toBe(true);
    meter.push([usage]);
    expect(meter.isOutdated).toBe(false);
  });

  it('takes what the upstream has said of the prompt, and of the answer where that is more', () => {
    const meter = new Meter();
    const usage = {
      ...NO_USAGE,
      inputTokens: 50,
      cachedTokens: 40,
      outputTokens: 1,
      source: 'measured' as const,
    };
    meter.push([{ type: 'usage', usage }]);
    expect(meter.isReported).toBe(false);
    meter.push([say('one'), say('two')]);
    expect(meter.usage(70)).toMatchObject({
      inputTokens: 50,
      cachedTokens: 40,
      outputTokens: 2,
      source: 'estimated',
    });
  });

  it('knows when the upstream has said what all of it is', () => {
    const meter = new Meter();
    meter.push([say('one'), say('two')]);
    expect(meter.usage(70)).toMatchObject({ inputTokens: 70, outputTokens: 2, source: 'estimated' });
    const usage = { ...NO_USAGE, inputTokens: 50, outputTokens: 1, source: 'measured' as const };
    meter.push([{ type: 'usage', usage }]);
    expect(meter.isReported).toBe(true);
    expect(meter.usage(70)).toEqual(usage);
    meter.push([say('three')]);
    expect(meter.isReported).toBe(false);
    expect(meter.usage(70)).toMatchObject({ inputTokens: 50, outputTokens: 3, source: 'estimated' });
  });
});
