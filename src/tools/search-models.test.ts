import { describe, expect, it } from 'vitest';
import type { Model } from '../catalog/catalog.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { foundModels, searchModels } from './search-models.ts';
import type { ToolContext } from './server-tool.ts';

const model = (id: string, more: Partial<Model> = {}): Model =>
  ({
    id,
    name: id,
    description: '',
    contextLength: 1000,
    maxOutputTokens: 100,
    inputModalities: ['text'],
    outputModalities: ['text'],
    aliases: [],
    quality: {},
    endpoints: [{ pricing: { prompt: 2_000_000n } }],
    ...more,
  }) as unknown as Model;

const MODELS = [
  model('a/small', { description: 'Cheap, reads large files' }),
  model('a/large', { contextLength: 90_000 }),
  model('b/eye', { inputModalities: ['text', 'image'], quality: { general: 0.4 } }),
  model('b/best', { quality: { general: 0.9 } }),
  model('b/unserved', { endpoints: [] }),
];

describe('experimental__search_models', () => {
  it.each<[JsonObject, string[]]>([
    [{}, ['b/best', 'b/eye', 'a/small', 'a/large']],
    [{ query: 'large' }, ['a/large', 'a/small']],
    [{ query: 'Reads LARGE' }, ['a/small']],
    [{ input_modalities: ['image'] }, ['b/eye']],
    [{ min_context_length: 2000 }, ['a/large']],
    [{ series: 'B/' }, ['b/best', 'b/eye']],
    [{ query: 'nothing' }, []],
  ])('finds models for %j', (asked, expected) => {
    expect(foundModels(MODELS, asked).map(({ id }) => id)).toEqual(expected);
  });

  it('lists ids and names first that begin with a word, or one of whose words does', () => {
    const models = [
      model('x/refuse', { quality: { general: 1 } }),
      model('fus/a'),
      model('x/b', { name: 'Fusion' }),
    ];
    expect(foundModels(models, { query: 'fus' }).map(({ id }) => id)).toEqual(['fus/a', 'x/b', 'x/refuse']);
  });

  it('tells how many there are beyond those it shows', async () => {
    const context = { settings: { catalog: { models: MODELS } } } as unknown as ToolContext;
    const call = {
      callId: 'c',
      arguments: {},
      parameters: { max_results: 1 },
      uses: 0,
      claimResults: Math.min,
    };
    const { output, shown } = await searchModels.run(call, context);
    expect(JSON.parse(output)).toMatchObject({ models: [{ id: 'b/best' }], total_results: 4, showing: 1 });
    expect(shown).toMatchObject({ query: '', total_results: 4 });
  });
});
