import { lookUp } from '../collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { StepBudget } from './budget.ts';

/** The schema that a local reference (`#/$defs/name`) names; an empty one if there is none. */
export function resolveReference(reference: string, root: JsonObject): Json {
  let node: Json | undefined = root;
  for (const step of reference.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isJsonObject(node) ? lookUp(node, key) : Array.isArray(node) ? node[Number(key)] : undefined;
  }
  return isJsonObject(node) || typeof node === 'boolean' ? node : {};
}

/** A step of a reference without percent-encoding; malformed encoding is taken literally. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Steps for reading a value, without the content of its members. */
export function widthOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length + 1;
  return isJsonObject(value) ? Object.keys(value).length + 1 : 1;
}

/** Characters of two texts that are compared in one step. */
const CHARACTERS_PER_STEP = 256;

/** Whether two values are the same JSON, in any order of members. True once the budget is spent. */
export function isSameJson(first: Json | undefined, second: Json | undefined, budget: StepBudget): boolean {
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
