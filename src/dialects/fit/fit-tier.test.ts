import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { DIALECTS } from '../dialects.ts';
import { fitTier } from './fit-tier.ts';

const asking = (changes: object, body: object) =>
  requestOf({ ...changes, body: { model: 'm', input: 'x', ...body } });

describe('fitTier', () => {
  it('sends no tier to a standard endpoint, and reports it', () => {
    const { request, report } = fitTier(
      asking({ serviceTier: 'priority' }, { service_tier: 'priority' }),
      undefined,
      DIALECTS.responses.facts,
    );
    expect(request.serviceTier).toBeUndefined();
    expect(request.body).toEqual({ model: 'm', input: 'x' });
    expect(report).toMatchObject([{ field: 'service_tier', action: 'dropped' }]);
    const fast = fitTier(asking({ speed: 'fast' }, { speed: 'fast' }), undefined, DIALECTS.messages.facts);
    expect(fast.request.body).toEqual({ model: 'm', input: 'x' });
    expect(fast.report).toMatchObject([{ field: 'speed', action: 'dropped' }]);
  });

  it.each([
    ['chat', 'fast', true],
    ['responses', 'fast', true],
    ['messages', 'faster', true],
    ['chat', 'standard', false],
  ] as const)('knows a speed in bodies of %s: %s', (format, speed, isDropped) => {
    const { request, report } = fitTier(asking({ format }, { speed }), undefined, DIALECTS[format].facts);
    expect(request.body).toEqual({ model: 'm', input: 'x', ...(!isDropped && { speed }) });
    expect(report.map(({ field, action }) => [field, action])).toEqual(
      isDropped ? [['speed', 'dropped']] : [],
    );
  });

  it.each(['auto', 'default', 'standard_only'])('leaves the tier %s to the upstream', (serviceTier) => {
    const request = asking({ serviceTier }, { service_tier: serviceTier });
    expect(fitTier(request, undefined, DIALECTS.responses.facts)).toEqual({ request, report: [] });
  });

  it.each([
    ['flex', 'chat', { serviceTier: 'flex', body: { service_tier: 'flex' } }],
    ['priority', 'responses', { serviceTier: 'priority', body: { service_tier: 'priority' } }],
    ['flex', 'gemini', { serviceTier: 'flex', body: { service_tier: 'flex' } }],
    ['priority', 'messages', { speed: 'fast', body: { speed: 'fast' } }],
  ] as const)('asks an endpoint of the tier %s for it in the words of %s', (tier, dialect, sent) => {
    const { request, report } = fitTier(requestOf(), tier, DIALECTS[dialect].facts);
    expect(request).toMatchObject(sent);
    expect(report).toEqual([]);
  });

  it('reports if another tier than the requested one serves', () => {
    const { report } = fitTier(
      asking({ serviceTier: 'priority' }, { service_tier: 'priority' }),
      'flex',
      DIALECTS.chat.facts,
    );
    expect(report).toMatchObject([{ field: 'service_tier', action: 'coerced' }]);
    expect(fitTier(asking({ speed: 'fast' }, {}), 'priority', DIALECTS.chat.facts).report).toEqual([]);
  });

  it.each([['flex', 'messages', { serviceTier: 'flex' }, { service_tier: 'flex' }]] as const)(
    'has no word for %s in the dialect %s, and reports the field of the request',
    (...row) => {
      const [tier, dialect, changes, body] = row;
      const { request, report } = fitTier(asking(changes, body), tier, DIALECTS[dialect].facts);
      expect(request.body).toEqual({ model: 'm', input: 'x' });
      expect(request.serviceTier).toBeUndefined();
      const [field] = Object.keys(body);
      expect(report).toEqual([{ field, action: 'dropped', detail: 'the upstream has no such tier' }]);
      expect(fitTier(asking({}, {}), tier, DIALECTS[dialect].facts).report).toEqual([]);
    },
  );
});
