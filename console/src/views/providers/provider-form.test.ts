import { describe, expect, it } from 'vitest';
import type { GatewayProviderObject } from '../../api/contract.ts';
import {
  createBody,
  perMillion,
  perToken,
  providerProblems,
  providerValues,
  type ServedProvider,
  testBody,
  updateBody,
  withListed,
} from './provider-form.ts';

const OWN: ServedProvider = { slug: null, name: '', stored: null };
const KNOWN: ServedProvider = { slug: 'anthropic', name: 'Anthropic', stored: null };

const STORED: GatewayProviderObject = {
  slug: 'workshop',
  name: null,
  dialect: 'openai-chat',
  base_url: 'http://127.0.0.1:11434/v1',
  label: null,
  models: [
    {
      id: 'workshop/a',
      model: 'a',
      name: null,
      context_length: 8_192,
      pricing: { prompt: '0.0000001', completion: '0' },
    },
  ],
  workspace_ids: ['w'],
  disabled: false,
  set_by: null,
  created_at: '2026-11-19T00:00:00.000Z',
  updated_at: null,
};

it.each([
  ['0.10', '0.0000001', '0.1'],
  ['15', '0.000015', '15'],
  ['', '0', ''],
  ['0', '0', ''],
  ['1000000', '1', '1000000'],
  ['2500000.5', '2.5000005', '2500000.5'],
])('a million tokens for %s are one for %s, and back', (typed, price, shown) => {
  expect(perToken(typed)).toBe(price);
  expect(perMillion(price)).toBe(shown);
});

it.each(['a', '-1', '1e3', '1,5', '.5'])('%s is no price', (typed) => {
  expect(perToken(typed)).toBeUndefined();
});

describe('a known provider', () => {
  it('needs a key alone', () => {
    const values = providerValues(KNOWN);
    expect(providerProblems(values, KNOWN)).toEqual({ key: 'Paste its key.' });
    const given = { ...values, key: ' sk-1 ' };
    expect(providerProblems(given, KNOWN)).toEqual({});
    expect(createBody(given, KNOWN)).toEqual({ slug: 'anthropic', key: 'sk-1' });
    expect(testBody(given, KNOWN)).toEqual({ slug: 'anthropic', key: 'sk-1' });
  });
});

describe('a server of one’s own', () => {
  it('needs a name and an address', () => {
    expect(Object.keys(providerProblems(providerValues(OWN), OWN))).toEqual(['slug', 'base_url']);
  });

  it('has what is stored, and sends what is chosen', () => {
    const provider = { slug: 'workshop', name: 'Workshop', stored: STORED };
    const values = providerValues(provider);
    expect(values.models).toMatchObject([{ model: 'a', isServed: true, prompt: '0.1', completion: '' }]);
    const listed = [
      { id: 'workshop/a', model: 'a', name: null, context_length: 1 },
      { id: 'workshop/b', model: 'b', name: 'B', context_length: null },
    ];
    const models = withListed(values.models, listed);
    expect(models.map(({ model, isServed }) => [model, isServed])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    const chosen = models.map((model) => ({ ...model, isServed: model.model === 'b', prompt: '2' }));
    expect(updateBody({ ...values, models: chosen }, provider)).toEqual({
      dialect: 'openai-chat',
      base_url: 'http://127.0.0.1:11434/v1',
      models: [{ id: 'workshop/b', model: 'b', name: 'B', pricing: { prompt: '0.000002', completion: '0' } }],
      workspace_ids: ['w'],
    });
    const wrong = { ...values, workspace_ids: [], models: [{ ...models[0]!, prompt: 'x' }] };
    expect(Object.keys(providerProblems(wrong, provider))).toEqual(['models', 'workspace_ids']);
  });

  it('offers all of few models at first, and none of many', () => {
    const many = Array.from({ length: 13 }, (_, index) => ({
      id: `w/${index}`,
      model: `${index}`,
      name: null,
      context_length: null,
    }));
    expect(withListed([], many.slice(0, 12)).every(({ isServed }) => isServed)).toBe(true);
    expect(withListed([], many).some(({ isServed }) => isServed)).toBe(false);
  });
});
