import { beforeEach, describe, expect, it } from 'vitest';
import { HandClock } from '../../test/kit/fakes/hand-clock.ts';
import { Traffic } from './traffic.ts';

const HOUR_MS = 3_600_000;

let clock: HandClock;
let traffic: Traffic;

beforeEach(() => {
  clock = new HandClock();
  traffic = new Traffic({ clock }, 2);
});

const spend = (modelId: string, inputTokens: number, outputTokens: number, costNanos: bigint) =>
  traffic.add(modelId, { inputTokens, outputTokens, costNanos });

describe('Traffic', () => {
  it('is the cost of all tokens together', () => {
    spend('a', 900, 100, 1_000_000n);
    spend('a', 0, 1000, 4_000_000n);
    expect(traffic.weightedPrice('a')).toBeCloseTo(0.005 / 2000, 12);
  });

  it('is undefined without traffic, and 0 for free models', () => {
    expect(traffic.weightedPrice('a')).toBeUndefined();
    spend('a', 0, 0, 0n);
    expect(traffic.weightedPrice('a')).toBeUndefined();
    spend('a', 10, 0, 0n);
    expect(traffic.weightedPrice('a')).toBe(0);
  });

  it('goes by the last 24 hours', () => {
    spend('a', 1000, 0, 1_000_000n);
    clock.pass(12 * HOUR_MS);
    spend('a', 1000, 0, 3_000_000n);
    expect(traffic.weightedPrice('a')).toBeCloseTo(0.000002, 12);
    clock.pass(12 * HOUR_MS);
    expect(traffic.weightedPrice('a')).toBeCloseTo(0.000003, 12);
    clock.pass(12 * HOUR_MS);
    expect(traffic.weightedPrice('a')).toBeUndefined();
  });

  it('is bounded: the least recently used model is evicted', () => {
    for (const model of ['a', 'b', 'a', 'c']) spend(model, 10, 0, 10n);
    expect(['a', 'b', 'c'].filter((model) => traffic.weightedPrice(model) !== undefined)).toEqual(['a', 'c']);
  });
});
