import { describe, expect, it } from 'vitest';
import { chosenModels, pricesOf } from './provider-models.ts';

describe('pricesOf', () => {
  it('reads prices of a million tokens as those of one, exactly', () => {
    expect([...pricesOf('llama3.2:3b=0.10/0.40, big=15/75,free=0/0')]).toEqual([
      ['llama3.2:3b', { prompt: '0.0000001', completion: '0.0000004' }],
      ['big', { prompt: '0.000015', completion: '0.000075' }],
      ['free', { prompt: '0', completion: '0' }],
    ]);
    expect(pricesOf('m=1000000/2500000.5').get('m')).toEqual({ prompt: '1', completion: '2.5000005' });
    expect(pricesOf(undefined).size).toBe(0);
  });

  it.each(['m', 'm=1', '=1/2', 'm=1/2/3', 'm=a/b', 'm=-1/2', 'm=1e3/2'])('refuses %s', (typed) => {
    expect(() => pricesOf(typed)).toThrow(/NAME=IN\/OUT/);
  });
});

describe('chosenModels', () => {
  const listed = [{ model: 'a', context_length: 10 }, { model: 'b' }];
  const priced = { prompt: '0.000001', completion: '0.000002' };
  const current = [{ id: 'own/a', model: 'a', pricing: priced }];

  it.each([
    [undefined, undefined, undefined],
    ['all', undefined, [current[0], { model: 'b' }]],
    ['b,c', undefined, [{ model: 'b' }, { model: 'c' }]],
    ['a', 'a=2/3', [{ ...current[0], pricing: { prompt: '0.000002', completion: '0.000003' } }]],
    [undefined, 'a=0/0', [{ ...current[0], pricing: { prompt: '0', completion: '0' } }]],
  ])('of %s and %s', (chosen, prices, models) => {
    expect(chosenModels({ chosen, prices, current, listed })).toEqual(models);
  });

  it('refuses a price for a model that is not chosen', () => {
    expect(() => chosenModels({ chosen: 'b', prices: 'a=1/1', current, listed })).toThrow(/a is not among/);
  });
});
