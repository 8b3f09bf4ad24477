import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { memberPath } from '../../kit/json/validate.ts';
import { formatPrice, parsePrice } from '../../kit/money.ts';
import type { Problem } from '../problem.ts';
import { maxPriceUsd, PER_MILLION, PRICE_NAMES, type PriceName } from '../schema/price-names.ts';
import { readQuantity, UNITS, type Unit } from '../schema/units.ts';
import { branchesOf, type SchemaNode } from './schema-at.ts';

interface NotationNode extends SchemaNode {
  /** A number that may be a text with a unit. */
  readonly unit?: Unit;
  /** True for prices, which may be written per million. */
  readonly hasPrices?: true;
}

/** Returns the value in the form that the schema checks; adds what cannot be read to `problems` and leaves it out. */
type Reader = (value: unknown, path: string, problems: Problem[]) => unknown;

/** The values of a file without notations: numbers in the key's unit, prices per token. */
export interface PlainValues {
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

/** Compiles the reader of a schema. Values of the wrong kind are left for the validator. */
export function compileNotations(schema: object): (value: unknown) => PlainValues {
  const read = readerOf(schema as NotationNode);
  return (value) => {
    const problems: Problem[] = [];
    return { value: read === undefined ? value : read(value, '', problems), problems };
  };
}

/** Undefined if nothing below the node has another notation: most of a file is not looked at. */
function readerOf(node: NotationNode): Reader | undefined {
  if (node.unit !== undefined) return quantityReader(node.unit);
  for (const branch of branchesOf(node) as readonly NotationNode[]) {
    const reader = branch.unit === undefined ? structureReader(branch) : quantityReader(branch.unit);
    if (reader !== undefined) return reader;
  }
  return undefined;
}

function quantityReader(unit: Unit): Reader {
  return (value, path, problems) => {
    if (value === null || typeof value === 'number') return value;
    const quantity = typeof value === 'string' ? readQuantity(value, unit) : undefined;
    if (quantity === undefined) problems.push({ path, message: UNITS[unit].explain });
    return quantity;
  };
}

function structureReader(node: NotationNode): Reader | undefined {
  const item = node.items === undefined ? undefined : readerOf(node.items);
  if (item !== undefined) {
    return (value, path, problems) =>
      Array.isArray(value) ? mapped(value, (member, at) => item(member, `${path}[${at}]`, problems)) : value;
  }
  const members = new Map(
    Object.entries(node.properties ?? {}).flatMap(([name, inner]) => {
      const reader = readerOf(inner);
      return reader === undefined ? [] : [[name, reader] as const];
    }),
  );
  if (node.hasPrices === undefined && members.size === 0) return undefined;
  return (value, path, problems) => {
    if (!isJsonObject(value)) return value;
    const priced = node.hasPrices === true ? perUnit(value, path, problems) : value;
    let changed: Record<string, unknown> | undefined;
    for (const [name, reader] of members) {
      if (!Object.hasOwn(priced, name)) continue;
      const member = reader(priced[name], memberPath(path, name), problems);
      if (member === priced[name]) continue;
      changed ??= { ...priced };
      if (member === undefined) delete changed[name];
      else changed[name] = member;
    }
    return changed ?? priced;
  };
}

/** Maps a list, and gives the same list if nothing changed. */
function mapped(
  list: readonly unknown[],
  change: (member: unknown, at: number) => unknown,
): readonly unknown[] {
  const next = list.map(change);
  return next.every((member, at) => member === list[at]) ? list : next;
}

function perUnit(pricing: JsonObject, path: string, problems: Problem[]): JsonObject {
  const written = PRICE_NAMES.filter((name) => Object.hasOwn(pricing, `${name}${PER_MILLION}`));
  if (written.length === 0) return pricing;
  const prices: Record<string, unknown> = { ...pricing };
  for (const name of written) {
    const key = `${name}${PER_MILLION}`;
    const given = pricing[key];
    delete prices[key];
    if (given === null) continue;
    if (Object.hasOwn(pricing, name) && pricing[name] !== null) {
      problems.push({
        path: memberPath(path, key),
        message: `says the same as ${name}: keep one of them`,
        isAtKey: true,
      });
      continue;
    }
    const price = unitPrice(given, name);
    if (price !== undefined) prices[name] = price;
    else problems.push({ path: memberPath(path, key), message: priceProblem(name) });
  }
  return prices as JsonObject;
}

const MILLION = 1_000_000n;

function unitPrice(given: unknown, name: PriceName): string | undefined {
  const text = typeof given === 'number' ? decimalOf(given) : given;
  const price = typeof text === 'string' ? parsePrice(text) : undefined;
  if (price === undefined || price % MILLION !== 0n) return undefined;
  const most = parsePrice(String(maxPriceUsd(name))) ?? 0n;
  return price / MILLION > most ? undefined : formatPrice(price / MILLION);
}

/** A number as a decimal without an exponent. */
function decimalOf(value: number): string {
  const text = String(value);
  return text.includes('e-') ? value.toFixed(18) : text;
}

function priceProblem(name: PriceName): string {
  return `must be a price in USD for a million, such as 1.25, of at most ${maxPriceUsd(name) * 1e6}`;
}
