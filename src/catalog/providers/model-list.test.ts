import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../kit/loop/turns.ts';
import { offeredId, readModelList } from './model-list.ts';

const listIn = (body: unknown) => runAtOnce(readModelList(JSON.stringify(body) ?? ''));

const modelsIn = (body: unknown) => listIn(body)?.models;

describe('readModelList', () => {
  it('reads the list of OpenAI, with what servers add to it', () => {
    const data = [
      { id: 'llama3.2:3b', object: 'model' },
      { id: 'meta-llama/Llama-3.3-70B', max_model_len: 131_072 },
      { id: 'qwen', meta: { n_ctx_train: 32_768 } },
      { id: 'acme/large', name: 'Acme: Large', context_length: 200_000 },
      { id: 'acme/large', context_length: 1 },
    ];
    expect(modelsIn({ object: 'list', data })).toEqual([
      { model: 'llama3.2:3b' },
      { model: 'meta-llama/Llama-3.3-70B', contextLength: 131_072 },
      { model: 'qwen', contextLength: 32_768 },
      { model: 'acme/large', name: 'Acme: Large', contextLength: 200_000 },
    ]);
  });

  it('reads the lists of Anthropic and Google', () => {
    expect(modelsIn({ data: [{ id: 'claude-x', display_name: 'Claude X' }] })).toEqual([
      { model: 'claude-x', name: 'Claude X' },
    ]);
    const models = [{ name: 'models/gemini-x', displayName: 'Gemini X', inputTokenLimit: 1_000_000 }];
    expect(modelsIn({ models })).toEqual([{ model: 'gemini-x', name: 'Gemini X', contextLength: 1_000_000 }]);
  });

  it.each([
    [[{ id: 'one' }], [{ model: 'one' }]],
    [{ data: [{ id: 7 }, null, 'text', { id: '' }, { id: 'x'.repeat(201) }] }, []],
    [{ data: [{ id: 'a', context_length: -1, max_model_len: 1.5 }] }, [{ model: 'a' }]],
  ])('leaves out what is no model: %j', (body, found) => {
    expect(modelsIn(body)).toEqual(found);
  });

  it.each([undefined, null, 'text', 7, {}, { data: 'text' }])(
    'is undefined for what is no list: %j',
    (body) => {
      expect(listIn(body)).toBeUndefined();
    },
  );

  it('takes the first 2000 of any number', () => {
    const data = Array.from({ length: 100_000 }, (_, index) => ({ id: `m${index}`, object: 'model' }));
    const list = listIn({ data });
    expect(list).toMatchObject({ count: 100_000, isCut: false });
    expect(list?.models).toHaveLength(2_000);
    expect(list?.models.at(-1)).toEqual({ model: 'm1999' });
  });

  it('reads the beginning of a list that is cut, and no text that is damaged', () => {
    const text = JSON.stringify({ data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] }).slice(0, -4);
    expect(runAtOnce(readModelList(text, true))).toEqual({
      models: [{ model: 'a' }, { model: 'b' }],
      count: 2,
      isCut: true,
    });
    expect(runAtOnce(readModelList(text))).toBeUndefined();
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
