import { describe, expect, it } from 'vitest';
import { catalogOf, endpointOf, modelOf, providerOf } from '../../test/kit/builders/catalog.ts';
import type { Model } from './catalog.ts';
import { type FusionSettings, fusionTeam, NO_TEAMS } from './fusion-team.ts';

function model(id: string, general: number, completion: bigint, changes: Partial<Model> = {}): Model {
  const endpoints = [endpointOf({ modelId: id, pricing: { completion } })];
  return modelOf({ id, quality: { general }, endpoints, outputModalities: ['text'], ...changes });
}

const dormant = endpointOf({ provider: providerOf({ isDormant: true }) });

const CATALOG = catalogOf(
  model('a/best', 0.9, 90n),
  model('a/next', 0.8, 80n),
  model('b/good', 0.7, 20n),
  model('c/fair', 0.6, 50n),
  model('d/small', 0.3, 2n),
  model('d/tiny', 0.1, 1n),
  model('d/unknown', 0, 0n, { quality: {} }),
  model('e/painter', 1, 1n, { outputModalities: ['image'] }),
  model('f/far', 1, 0n, { endpoints: [dormant] }),
);

const CONFIGURED: FusionSettings = {
  panel: ['x/one', 'x/two'],
  judge: 'x/judge',
  presets: { 'general-fast': { panel: ['y/one'], judge: undefined } },
};

describe('the team of a fusion', () => {
  it.each([
    ['nothing', {}, NO_TEAMS, ['a/best', 'b/good', 'c/fair'], 'a/best'],
    ['a preset', { preset: 'general-budget' }, NO_TEAMS, ['b/good', 'a/next', 'a/best'], 'b/good'],
    ['another preset', { preset: 'general-fast' }, NO_TEAMS, ['d/tiny', 'b/good'], 'd/tiny'],
    ['a configuration', {}, CONFIGURED, ['x/one', 'x/two'], 'x/judge'],
    ['a configured preset', { preset: 'general-fast' }, CONFIGURED, ['y/one'], 'y/one'],
    [
      'a preset that is not configured',
      { preset: 'general-high' },
      CONFIGURED,
      ['a/best', 'b/good', 'c/fair'],
      'a/best',
    ],
    ['a judge', { model: 'z/judge' }, CONFIGURED, ['x/one', 'x/two'], 'z/judge'],
    ['a panel', { preset: 'general-fast', analysis_models: ['z/a'] }, CONFIGURED, ['z/a'], 'z/a'],
  ] as const)('is made from %s', (_, wish, settings, panel, judge) => {
    expect(fusionTeam(wish as never, settings, CATALOG)).toEqual({ panel, judge });
  });

  it('is empty without models', () => {
    expect(fusionTeam({}, NO_TEAMS, catalogOf())).toEqual({ panel: [], judge: '' });
  });
});
