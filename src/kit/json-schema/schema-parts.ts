import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { lookUp } from '../net/lookup.ts';
import type { Budget } from './budget.ts';

/** What a local reference (`#/$defs/name`) leads to; an empty schema when it leads nowhere. */
export function resolveReference(reference: string, root: JsonObject): Json {
  let node: Json | undefined = root;
  for (const step of reference.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isJsonObject(node) ? lookUp(node, key) : Array.isArray(node) ? node[Number(key)] : undefined;
  }
  return isJsonObject(node) || typeof node === 'boolean' ? node : {};
}

/** A step of a reference; one that is not well encoded stands for itself. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** How much there is to look at in a value itself, what is inside its members left out. */
export function widthOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length + 1;
  return isJsonObject(value) ? Object.keys(value).length + 1 : 1;
}

/** Characters of two texts that are compared in one step. */
const CHARACTERS_PER_STEP = 256;

/** Whether two values are the same JSON, whatever the order of members. What is beyond the budget counts as the same. */
export function isSameJson(first: Json | undefined, second: Json | undefined, budget: Budget): boolean {
  budget.steps -= 1;
  if (budget.steps < 0) return true;
  if (typeof first === 'string' && typeof second === 'string') {
    if (first.length === second.length) budget.steps -= first.length / CHARACTERS_PER_STEP;
    return first === second;
  }
  if (Array.isArray(first) && Array.isArray(second)) {
    return (
      first.length === second.length &&
      first.every((value, index) => isSameJson(value, second[index], budget))
    );
  }
  if (!isJsonObject(first) || !isJsonObject(second)) return first === second;
  const [names, others] = [Object.keys(first), Object.keys(second)];
  budget.steps -= names.length + others.length;
  return (
    names.length === others.length &&
    names.every((name) => Object.hasOwn(second, name) && isSameJson(first[name], second[name], budget))
  );
}
