import { isJsonObject } from '../../kit/json/json.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { runAtOnce, type Sliced } from '../../kit/loop/turns.ts';
import { countText } from '../../kit/text/count-text.ts';
import type { PriceName } from '../schema/price-names.ts';

/** Prices of units that are not counted yet. */
const UNUSED_PRICES: readonly PriceName[] = [
  'image_token',
  'audio',
  'audio_output',
  'input_audio_cache',
  'discount',
];

/** Keys that are checked but have no effect yet. `[]` stands for any index. */
const UNSUPPORTED_KEYS: readonly string[] = [
  ...UNUSED_PRICES.map((name) => `models[].endpoints[].pricing.${name}`),
  ...UNUSED_PRICES.map((name) => `models[].endpoints[].prices[].pricing.${name}`),
];

/** A warning for each key of the file that has no effect yet. `written`: the file without defaults. */
export function unsupportedKeyWarnings(written: unknown): Issue[] {
  return runAtOnce(unsupportedKeyWarningsSliced(written));
}

/** As unsupportedKeyWarnings, in slices: a key in each. */
export function* unsupportedKeyWarningsSliced(written: unknown): Sliced<Issue[]> {
  const warnings: Issue[] = [];
  for (const key of UNSUPPORTED_KEYS) {
    const [first, ...others] = placesOf(written, key.split('.'), '');
    yield;
    if (first === undefined) continue;
    const elsewhere = others.length > 0 ? `, nor in ${countText(others.length, 'more place')}` : '';
    warnings.push({ path: first.path, message: `has no effect in this version yet${elsewhere}` });
  }
  return warnings;
}

interface Place {
  readonly path: string;
  readonly value: unknown;
}

function placesOf(value: unknown, names: readonly string[], path: string): Place[] {
  const [first, ...rest] = names;
  if (first === undefined) return [{ path, value }];
  const isList = first.endsWith('[]');
  const name = isList ? first.slice(0, -2) : first;
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return [];
  const member = value[name];
  const at = path === '' ? name : `${path}.${name}`;
  if (!isList) return placesOf(member, rest, at);
  return Array.isArray(member)
    ? member.flatMap((item, index) => placesOf(item, rest, `${at}[${index}]`))
    : [];
}
