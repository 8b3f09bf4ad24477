import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../test/builders/catalog.ts';
import { requestOf } from '../../test/builders/request.ts';
import type { JsonObject } from '../kit/json.ts';
import { parsePrice } from '../kit/money.ts';
import { candidatesOf } from './candidates.ts';

const acme = providerOf({
  slug: 'acme',
  name: 'Acme',
  dataPolicy: { training: false, retainsPrompts: false },
});
const beta = providerOf({ slug: 'beta', name: 'Beta Cloud', dialect: 'responses' });
const model = modelOf({
  endpoints: [
    endpointOf({ provider: acme, tag: 'acme' }),
    endpointOf({ provider: acme, tag: 'acme/turbo', quantization: 'fp8' }),
    endpointOf({ provider: acme, tag: 'acme/flex' }),
    endpointOf({ provider: beta, tag: 'beta', pricing: { prompt: parsePrice('0.00001') ?? 0n } }),
  ],
});

function tagsFor(provider: JsonObject): string[] {
  const request = requestOf({ wishes: { provider, plugins: [] } });
  return candidatesOf(request, [model], true).accepted.map(({ endpoint }) => endpoint.tag);
}

describe('candidatesOf', () => {
  const cases: [string, JsonObject, string[]][] = [
    ['configured order', {}, ['acme', 'acme/turbo', 'acme/flex', 'beta']],
    ['order first, then the rest', { order: ['beta'] }, ['beta', 'acme', 'acme/turbo', 'acme/flex']],
    [
      'a full slug names one endpoint',
      { order: ['acme/turbo'] },
      ['acme/turbo', 'acme', 'acme/flex', 'beta'],
    ],
    ['a base slug does not name tier endpoints', { only: ['acme'] }, ['acme', 'acme/turbo']],
    ['display names count', { only: ['Beta Cloud'] }, ['beta']],
    ['ignore', { ignore: ['acme', 'acme/flex'] }, ['beta']],
    ['no fallbacks: the first', { allow_fallbacks: false }, ['acme']],
    [
      'no fallbacks with an order: the listed ones',
      { order: ['beta', 'acme/turbo'], allow_fallbacks: false },
      ['beta', 'acme/turbo'],
    ],
    ['zero retention', { zdr: true }, ['acme', 'acme/turbo', 'acme/flex']],
    ['no data collection', { data_collection: 'deny' }, ['acme', 'acme/turbo', 'acme/flex']],
    ['quantization', { quantizations: ['fp8'] }, ['acme/turbo']],
    ['unknown quantization', { quantizations: ['unknown'] }, ['acme', 'acme/flex', 'beta']],
    ['price limit as a number', { max_price: { prompt: 2 } }, ['acme', 'acme/turbo', 'acme/flex']],
    [
      'price limit as a string, inclusive',
      { max_price: { prompt: '10' } },
      ['acme', 'acme/turbo', 'acme/flex', 'beta'],
    ],
    ['distillable text only', { enforce_distillable_text: true }, []],
  ];
  it.each(cases)('%s', (_, provider, tags) => {
    expect(tagsFor(provider)).toEqual(tags);
  });

  it('relays where the endpoint speaks the format of the request and no stage is active', () => {
    const lanes = (mayRelay: boolean) =>
      candidatesOf(requestOf(), [model], mayRelay).accepted.map(({ lane }) => lane);
    expect(lanes(true)).toEqual(['translate', 'translate', 'translate', 'relay']);
    expect(lanes(false)).toEqual(['translate', 'translate', 'translate', 'translate']);
  });

  it('names the rule that ruled an endpoint out', () => {
    const image = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } } as const;
    const request = requestOf({ items: [{ type: 'message', role: 'user', content: [image] }] });
    const { accepted, rejected } = candidatesOf(request, [model], true);
    expect(accepted).toEqual([]);
    expect(rejected[0]).toMatchObject({ filter: 'input_modalities', reason: 'takes no image input' });
  });

  describe('the output that is asked for', () => {
    const small = endpointOf({ tag: 'small', maxOutputTokens: 100 });
    const big = endpointOf({ tag: 'big', maxOutputTokens: 5000 });
    const asking = (maxOutputTokens: number | undefined, provider: JsonObject = {}) =>
      candidatesOf(
        requestOf({
          ...(maxOutputTokens !== undefined && { maxOutputTokens }),
          wishes: { provider, plugins: [] },
        }),
        [modelOf({ endpoints: [small, big] })],
        true,
      );
    const tags = (candidates: ReturnType<typeof asking>) =>
      candidates.accepted.map(({ endpoint }) => endpoint.tag);

    it('rules out who writes less, with the reason', () => {
      const candidates = asking(3000);
      expect(tags(candidates)).toEqual(['big']);
      expect(candidates.rejected).toEqual([
        {
          endpoint: small,
          filter: 'max_output_tokens',
          reason: 'writes at most 100 tokens, 3000 are asked for',
        },
      ]);
      expect(tags(asking(3000, { allow_fallbacks: false }))).toEqual(['big']);
    });

    it.each([[undefined], [100]])('rules out nobody who writes enough for %s', (asked) => {
      expect(asking(asked)).toMatchObject({
        accepted: [{ endpoint: small }, { endpoint: big }],
        rejected: [],
      });
    });

    it('is left to be lowered where nobody who may serve writes as much', () => {
      expect(tags(asking(9000))).toEqual(['small', 'big']);
      expect(tags(asking(3000, { only: ['small'] }))).toEqual(['small']);
    });
  });

  it('looks at what the endpoint takes where that is less than the model can', () => {
    const blind = endpointOf({ tag: 'blind', inputModalities: ['text'] });
    const seeing = endpointOf({ tag: 'seeing' });
    const model = modelOf({ inputModalities: ['text', 'image'], endpoints: [blind, seeing] });
    const image = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } } as const;
    const request = requestOf({ items: [{ type: 'message', role: 'user', content: [image] }] });
    const { accepted, rejected } = candidatesOf(request, [model], true);
    expect(accepted.map(({ endpoint }) => endpoint.tag)).toEqual(['seeing']);
    expect(rejected).toMatchObject([{ endpoint: blind, reason: 'takes no image input' }]);
  });

  it('requires parameters only when asked to', () => {
    const strict = modelOf({ endpoints: [endpointOf({ supportedParameters: new Set(['temperature']) })] });
    const withTopK = (provider: JsonObject) =>
      candidatesOf(requestOf({ sampling: { topK: 5 }, wishes: { provider, plugins: [] } }), [strict], true);
    expect(withTopK({}).accepted).toHaveLength(1);
    expect(withTopK({ require_parameters: true }).rejected[0]?.reason).toBe('does not support top_k');
  });
});
