import { expect, it } from 'vitest';
import { chooseEngine } from './choose-engine.ts';
import type { WebSettings } from './web-settings.ts';

const LIMITS = { fetchMs: 1, toolMs: 1, readBytes: 1, resultCharacters: 1 };

function settings(engines: readonly string[], defaultEngine?: string): WebSettings {
  const each = engines.map(
    (name) => [name, { apiKey: undefined, url: undefined, price: undefined, modes: [] }] as const,
  );
  return { engines: new Map(each as never), defaultEngine, limits: LIMITS };
}

it.each([
  // asked, configured, default, the upstream searches, expected
  [undefined, ['exa', 'searxng'], undefined, true, 'native'],
  [undefined, ['exa', 'searxng'], undefined, false, 'exa'],
  [undefined, ['exa', 'searxng'], 'searxng', true, 'searxng'],
  [undefined, ['exa'], 'native', true, 'native'],
  [undefined, ['exa'], 'native', false, 'exa'],
  [undefined, ['exa'], 'auto', true, 'exa'],
  [undefined, [], undefined, true, 'native'],
  [undefined, [], undefined, false, undefined],
  ['auto', ['exa', 'searxng'], 'searxng', true, 'searxng'],
  ['auto', ['exa'], undefined, true, 'exa'],
  ['auto', [], undefined, true, 'native'],
  ['auto', [], undefined, false, undefined],
  ['native', ['exa'], 'exa', true, 'native'],
  ['native', ['exa'], 'exa', false, undefined],
  ['exa', ['exa', 'searxng'], 'searxng', true, 'exa'],
] as const)('%s of %j with default %s, native %s: %s', (asked, engines, byDefault, hasNative, expected) => {
  const choice = chooseEngine(asked, settings(engines, byDefault), hasNative);
  expect('engine' in choice ? choice.engine : undefined).toBe(expected);
});
