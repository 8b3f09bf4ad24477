import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { planned, routeOf, tagsOf, wishing } from '../../../test/kit/builders/route.ts';
import { model, three, wide } from '../../../test/kit/builders/routed-models.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { planRoute } from '../plan-route.ts';

describe('rules', () => {
  const cases: [string, JsonObject, string[]][] = [
    ['nothing is asked for', {}, ['acme', 'acme/turbo', 'beta']],
    ['a base slug means variants and no tiers', { only: ['acme'] }, ['acme', 'acme/turbo']],
    ['a full slug means one endpoint', { only: ['acme/turbo'] }, ['acme/turbo']],
    ['a full slug means an endpoint of a tier too', { only: ['acme/flex'] }, ['acme/flex']],
    ['display names count, in any case', { only: ['BETA cloud'] }, ['beta']],
    ['unknown names beside known ones', { only: ['nobody', 'beta'] }, ['beta']],
    ['no endpoint is left', { only: ['nobody'] }, []],
    ['ignore', { ignore: ['acme'] }, ['beta']],
    ['ignore one variant', { ignore: ['acme/turbo', 'nobody'] }, ['acme', 'beta']],
    ['only and ignore', { only: ['acme'], ignore: ['acme/turbo'] }, ['acme']],
    ['zero retention', { zdr: true }, ['acme', 'acme/turbo']],
    ['no data collection', { data_collection: 'deny' }, ['acme', 'acme/turbo']],
    ['data collection is fine', { data_collection: 'allow', zdr: false }, ['acme', 'acme/turbo', 'beta']],
    ['quantization', { quantizations: ['fp8', 'int4'] }, ['acme/turbo']],
    ['unknown quantization', { quantizations: ['unknown'] }, ['acme', 'beta']],
    ['price limit as a number, inclusive', { max_price: { prompt: 5 } }, ['acme', 'acme/turbo']],
    ['price limit as a string', { max_price: { prompt: '4.99' } }, ['acme']],
    ['price limit finer than any price', { max_price: { prompt: '4.0000000000000000000001' } }, ['acme']],
    ['price limit beyond any price', { max_price: { prompt: 1e22 } }, ['acme', 'acme/turbo', 'beta']],
    ['price limit on what costs nothing', { max_price: { image: 0 } }, ['acme', 'acme/turbo', 'beta']],
    ['price limit that leaves no endpoint', { max_price: { prompt: 3 } }, []],
    ['distillable text only', { enforce_distillable_text: true }, []],
  ];
  it.each(cases)('%s', (_, provider, tags) => {
    expect(tagsOf(planRoute(routeOf([wide], { request: wishing(provider) })))).toEqual(tags);
  });

  it('name themselves and the reason', () => {
    const rejected = (provider: JsonObject) =>
      planRoute(routeOf([model], { request: wishing(provider) })).rejected;
    expect(rejected({ only: ['acme', 'beta'], max_price: { prompt: 1.5 } })).toEqual([
      { endpoint: three[0], filter: 'max_price', reason: 'prompt price is above the limit' },
      { endpoint: three[1], filter: 'only', reason: 'not in provider.only' },
    ]);
    expect(rejected({ ignore: ['acme'], zdr: true })).toMatchObject([
      { filter: 'zdr', reason: 'not known to retain nothing' },
      { filter: 'zdr', reason: 'not known to retain nothing' },
      { filter: 'ignore', reason: 'in provider.ignore' },
    ]);
    expect(rejected({ quantizations: ['fp8'] })[0]?.reason).toBe('quantization is unknown');
  });

  const image = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } } as const;
  const showing = requestOf({ items: [{ type: 'message', role: 'user', content: [image] }] });

  it('use the modalities of the model, or of the endpoint if it has fewer', () => {
    const blind = endpointOf({ tag: 'blind', inputModalities: ['text'] });
    const seeing = endpointOf({ tag: 'seeing' });
    const inputs = modelOf({ inputModalities: ['text', 'image'], endpoints: [blind, seeing] });
    const plan = planRoute(routeOf([inputs, modelOf({ id: 'acme/other' })], { request: showing }));
    expect(tagsOf(plan)).toEqual(['seeing']);
    expect(plan.rejected).toMatchObject([
      { endpoint: blind, filter: 'input_modalities', reason: 'takes no image input' },
      { filter: 'input_modalities' },
    ]);
    const drawing = planRoute(routeOf([model], { request: requestOf({ modalities: ['text', 'image'] }) }));
    expect(drawing.rejected[0]).toMatchObject({
      filter: 'output_modalities',
      reason: 'makes no image output',
    });
  });

  it('require parameters only when asked to', () => {
    const strict = [endpointOf({ supportedParameters: new Set(['temperature']) })];
    const sampling = { topK: 5, minP: 0.1, temperature: 1 };
    expect(planned(strict, { request: wishing({}, { sampling }) })).toHaveLength(1);
    const plan = planRoute(
      routeOf([modelOf({ endpoints: strict })], {
        request: wishing({ require_parameters: true }, { sampling }),
      }),
    );
    expect(plan.rejected).toMatchObject([
      { filter: 'require_parameters', reason: 'does not support top_k, min_p' },
    ]);
  });

  it('relay where the endpoint speaks the format of the request and no stage is active', () => {
    const lanes = (mayRelay: boolean) =>
      planRoute(routeOf([model], { mayRelay })).ranked.map(({ endpoint, lane }) => `${endpoint.tag} ${lane}`);
    expect(lanes(true)).toEqual(['acme translate', 'beta relay', 'gamma translate']);
    expect(lanes(false)).toEqual(['acme translate', 'beta translate', 'gamma translate']);
  });
});

describe('the requested output limit', () => {
  const small = endpointOf({ tag: 'small', maxOutputTokens: 100 });
  const big = endpointOf({ tag: 'big', maxOutputTokens: 5000 });
  const asking = (requestedOutputTokens: number | undefined, provider: JsonObject = {}) =>
    planRoute(
      routeOf([modelOf({ endpoints: [small, big] })], {
        request: wishing(provider, requestedOutputTokens === undefined ? {} : { requestedOutputTokens }),
      }),
    );

  it('rejects endpoints that write less, with the reason', () => {
    const plan = asking(3000);
    expect(tagsOf(plan)).toEqual(['big']);
    expect(plan.rejected).toEqual([
      {
        endpoint: small,
        filter: 'max_output_tokens',
        reason: 'writes at most 100 tokens, 3000 are asked for',
      },
    ]);
    expect(tagsOf(asking(3000, { allow_fallbacks: false }))).toEqual(['big']);
  });

  it.each([[undefined], [100]])('keeps endpoints that can write %s tokens', (asked) => {
    expect(asking(asked)).toMatchObject({ ranked: [{ endpoint: small }, { endpoint: big }], rejected: [] });
  });

  it('is lowered later if no candidate can write as much', () => {
    expect(tagsOf(asking(9000))).toEqual(['big']);
    expect(tagsOf(asking(3000, { only: ['small'] }))).toEqual(['small']);
  });
});
