import { describe, expect, it } from 'vitest';
import { pointsOf, stepsOf } from './price-steps.ts';

const change = (at: number, after: string | null, over: object = {}) => ({
  model: 'a/b',
  endpoint: 'acme',
  member: 'prompt',
  min_prompt_tokens: 0,
  at: new Date(at).toISOString(),
  before: null,
  after,
  is_first: false,
  ...over,
});

describe('stepsOf', () => {
  it('has one price of one endpoint, oldest first', () => {
    const changes = [
      change(20, '2'),
      change(10, '1'),
      change(15, '9', { endpoint: 'other' }),
      change(15, '9', { member: 'completion' }),
      change(15, '9', { min_prompt_tokens: 200_000 }),
    ];
    expect(stepsOf(changes, 'acme', 'prompt')).toEqual([
      { fromMs: 10, price: 1 },
      { fromMs: 20, price: 2 },
    ]);
  });
});

describe('pointsOf', () => {
  it('holds each price until the next one', () => {
    const steps = [
      { fromMs: 0, price: 1 },
      { fromMs: 50, price: 2 },
    ];
    expect(pointsOf(steps, { fromMs: 0, toMs: 100, highest: 2, width: 100, height: 10 })).toBe(
      '0.0,5.0 50.0,5.0 50.0,0.0 100.0,0.0',
    );
  });
});
