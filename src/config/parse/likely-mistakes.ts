import { Pace } from '../../kit/loop/turns.ts';
import { parsePrice } from '../../kit/money.ts';
import type { Problem } from '../problem.ts';
import { PER_MILLION, TOKEN_PRICES } from '../schema/price-names.ts';
import type { Config } from '../schema/schema.ts';
import { pathOf } from './environment.ts';

/** Token prices above this are taken for prices of a million tokens. The dearest models cost 0.0006 USD a token. */
const DUBIOUS_USD_PER_TOKEN = '0.01';

/** Sections whose texts are the operator's own prose, in which `$NAME` may mean itself. */
const PROSE: ReadonlySet<string> = new Set(['prompts', 'presets']);

/**
 * What is legal and almost surely wrong, as far as the file alone shows it. `value`: the file with its variables not
 * yet filled in, because a `$NAME` inside a variable's value is no mistake. Yields undefined now and then, where a
 * slice may end.
 */
export function* likelyMistakes(value: object, config: Config): Generator<Problem | undefined> {
  const pace = new Pace();
  for (const [name, section] of Object.entries(value)) {
    if (PROSE.has(name)) continue;
    if (!Array.isArray(section)) yield* unreadVariables(section, [name]);
    else {
      for (const [index, member] of section.entries()) {
        if (pace.tick()) yield undefined;
        yield* unreadVariables(member, [name, index]);
      }
    }
  }
  for (const [at, model] of config.models.entries()) {
    if (pace.tick()) yield undefined;
    for (const [index, { pricing, prices }] of model.endpoints.entries()) {
      const path = `models[${at}].endpoints[${index}]`;
      yield* dubiousPrices(pricing, `${path}.pricing`);
      for (const [number, dated] of (prices ?? []).entries()) {
        yield* dubiousPrices(dated.pricing, `${path}.prices[${number}].pricing`);
      }
    }
  }
}

type Pricing = Config['models'][number]['endpoints'][number]['pricing'];

function* dubiousPrices(pricing: Pricing, path: string): Generator<Problem> {
  const most = parsePrice(DUBIOUS_USD_PER_TOKEN) ?? 0n;
  for (const [prices, at] of [
    [pricing, path] as const,
    ...(pricing?.overrides ?? []).map(
      (override, index) => [override, `${path}.overrides[${index}]`] as const,
    ),
  ]) {
    for (const name of TOKEN_PRICES) {
      const price = prices?.[name];
      if (price && (parsePrice(price) ?? 0n) > most) {
        yield {
          path: `${at}.${name}`,
          message: `is ${price} USD for one token; if it is for a million, write ${name}${PER_MILLION}`,
        };
      }
    }
  }
}

/** Texts with `$NAME`, which is not replaced. `trail`: the path of the value. */
function unreadVariables(value: unknown, trail: (string | number)[]): Problem[] {
  const problems: Problem[] = [];
  // The trail is rendered to a path only for a problem: a file has many places and few problems.
  const walk = (node: unknown): void => {
    if (typeof node === 'string') {
      const [, bracket = '', name] = (node.includes('$') && UNREAD_VARIABLE.exec(node)) || [];
      if (name === undefined) return;
      const message = `$${bracket}${name} is not replaced: write \${${name}}`;
      problems.push({ path: pathOf(trail), message });
    } else if (typeof node === 'object' && node !== null) {
      const isList = Array.isArray(node);
      for (const name of Object.keys(node)) {
        trail.push(isList ? Number(name) : name);
        walk((node as Record<string, unknown>)[name]);
        trail.pop();
      }
    }
  };
  walk(value);
  return problems;
}

/** `$NAME`, `$(NAME)`, `${NAME` and `${NAME:-other}`: how shells and other programs write variables. */
const UNREAD_VARIABLE = /(?<=^|[\s:/@])\$([({] *)?([A-Z_][A-Z0-9_]{2,})\b/;
