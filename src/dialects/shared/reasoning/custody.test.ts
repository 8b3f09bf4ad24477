import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areOfOneFamily, familyOf, placeOfSeal, unwrapSeal, wrapSeal } from './custody.ts';

describe('families of seals', () => {
  it.each([
    ['openai-responses-v1', 'openai'],
    ['azure-openai-responses-v1', 'openai'],
    ['anthropic-claude-v1', 'anthropic'],
    ['google-gemini-v1', 'google'],
    ['xai-responses-v1', 'xai'],
    ['meta-responses-v1', 'unknown'],
    ['not-openai-v1', 'unknown'],
    [undefined, 'unknown'],
  ])('%s', (format, family) => {
    expect(familyOf(format)).toBe(family);
  });
});

describe('formats of one family', () => {
  it.each([
    ['azure-openai-responses-v1', 'openai-responses-v1', true],
    ['xai-responses-v1', 'openai-responses-v1', false],
    ['meta-responses-v1', 'meta-responses-v1', true],
    ['meta-responses-v1', 'acme-v1', false],
    [undefined, 'openai-responses-v1', false],
  ])('%s and %s: %s', (format, other, areOne) => {
    expect(areOfOneFamily(format, other)).toBe(areOne);
  });
});

describe('wrapped seals', () => {
  it('come out as they went in', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.record(
          { id: text, signature: text, encrypted: text, format: text, givenBy: fc.constant('chat' as const) },
          { requiredKeys: [] },
        ),
        (seal) => {
          expect(unwrapSeal(wrapSeal(seal))).toEqual(seal);
        },
      ),
    );
  });

  it.each(['', 'gAAAAABo', 'sealed.', 'sealed.vx.'])('are told from other strings: %s', (text) => {
    expect(unwrapSeal(text)).toBeUndefined();
  });

  it.each([
    'sealed.v1.',
    'sealed.v1.!!!',
    'sealed.v9.abc',
    `sealed.v1.${Buffer.from('[1]').toString('base64url')}`,
  ])('that are damaged are reported as seals that no upstream takes: %s', (text) => {
    expect(unwrapSeal(text)).toEqual({ encrypted: text, format: 'damaged' });
    expect(familyOf('damaged')).toBe('unknown');
  });

  it('say the place that they were wrapped with', () => {
    expect(placeOfSeal(wrapSeal({ signature: 's' }, 2))).toBe(2);
    expect(placeOfSeal(wrapSeal({ signature: 's' }))).toBeUndefined();
    expect(placeOfSeal('another string')).toBeUndefined();
    expect(unwrapSeal(wrapSeal({ signature: 's' }, 2))).toEqual({ signature: 's' });
  });

  it('take over nothing but strings', () => {
    const forged = Buffer.from('{"id":5,"signature":"s","givenBy":"me","extra":"x"}').toString('base64url');
    expect(unwrapSeal(`sealed.v1.${forged}`)).toEqual({ signature: 's' });
  });
});
