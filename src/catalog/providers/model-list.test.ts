import { describe, expect, it } from 'vitest';
import { offeredId, readModelList } from './model-list.ts';

describe('readModelList', () => {
  it('reads the list of OpenAI, with what servers add to it', () => {
    const data = [
      { id: 'llama3.2:3b', object: 'model' },
      { id: 'meta-llama/Llama-3.3-70B', max_model_len: 131_072 },
      { id: 'qwen', meta: { n_ctx_train: 32_768 } },
      { id: 'acme/large', name: 'Acme: Large', context_length: 200_000 },
      { id: 'acme/large', context_length: 1 },
    ];
    expect(readModelList({ object: 'list', data })).toEqual([
      { model: 'llama3.2:3b' },
      { model: 'meta-llama/Llama-3.3-70B', contextLength: 131_072 },
      { model: 'qwen', contextLength: 32_768 },
      { model: 'acme/large', name: 'Acme: Large', contextLength: 200_000 },
    ]);
  });

  it('reads the lists of Anthropic and Google', () => {
    expect(readModelList({ data: [{ id: 'claude-x', display_name: 'Claude X' }] })).toEqual([
      { model: 'claude-x', name: 'Claude X' },
    ]);
    const models = [{ name: 'models/gemini-x', displayName: 'Gemini X', inputTokenLimit: 1_000_000 }];
    expect(readModelList({ models })).toEqual([
      { model: 'gemini-x', name: 'Gemini X', contextLength: 1_000_000 },
    ]);
  });

  it.each([
    [[{ id: 'one' }], [{ model: 'one' }]],
    [{ data: [{ id: 7 }, null, 'text', { id: '' }, { id: 'x'.repeat(201) }] }, []],
    [{ data: [{ id: 'a', context_length: -1, max_model_len: 1.5 }] }, [{ model: 'a' }]],
  ])('leaves out what is no model: %j', (body, found) => {
    expect(readModelList(body)).toEqual(found);
  });

  it.each([undefined, null, 'text', 7, {}, { data: 'text' }])(
    'is undefined for what is no list: %j',
    (body) => {
      expect(readModelList(body)).toBeUndefined();
    },
  );

  it('keeps at most 2000', () => {
    const data = Array.from({ length: 2_500 }, (_, index) => ({ id: `m${index}` }));
    expect(readModelList({ data })).toHaveLength(2_000);
  });
});

it.each([
  ['llama3.2:3b', 'workshop/llama3.2-3b'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'meta-llama/llama-3.3-70b-instruct'],
  ['/models/My Model.gguf', 'models/my-model.gguf'],
  ['Qwen 3', 'workshop/qwen-3'],
  ['acorn/auto', 'workshop/acorn-auto'],
  ['acorn/large', 'acorn/large'],
])('offers %s as %s', (model, id) => {
  expect(offeredId('workshop', model, 'acorn')).toBe(id);
});
