import { isJsonObject, type Json } from '../../../kit/json/json.ts';
import { renamed } from './renamed.ts';

/** Shorter numbers are not scanned: they are counts and the like. */
export const MIN_NUMBER_CHARACTERS = 4;

/**
 * The input of a function call with every text in it replaced by what `change` returns: names, strings, and numbers
 * of some length, which become strings if they change. Input that is not JSON is one text. The same input if nothing
 * changes.
 */
export function mapToolInput(input: string, change: (text: string) => string): string {
  let value: Json;
  try {
    value = JSON.parse(input) as Json;
  } catch {
    return change(input);
  }
  const changed = mapped(value, change);
  return changed === value ? input : JSON.stringify(changed);
}

function mapped(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return value === '' ? value : change(value);
  if (typeof value === 'number') return mapNumber(value, change);
  if (Array.isArray(value)) {
    const list = value.map((each) => mapped(each as Json, change));
    return list.some((each, index) => each !== value[index]) ? list : value;
  }
  if (!isJsonObject(value)) return value;
  let isChanged = false;
  const names = new Map<string, string>();
  const entries = Object.entries(value).map(([name, each]): [string, Json] => {
    const changedName = change(name);
    if (changedName !== name) names.set(name, changedName);
    const changed = mapped(each as Json, change);
    if (changed !== each) isChanged = true;
    return [name, changed];
  });
  if (!isChanged && names.size === 0) return value;
  const result = isChanged ? Object.fromEntries(entries) : (value as Record<string, Json>);
  return names.size === 0 ? result : renamed(result, names);
}

export function mapNumber(value: number, change: (text: string) => string): number | string {
  const text = String(value);
  if (text.length < MIN_NUMBER_CHARACTERS) return value;
  const changed = change(text);
  return changed === text ? value : changed;
}
