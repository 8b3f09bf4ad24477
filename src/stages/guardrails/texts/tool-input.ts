import { isJsonObject, type Json } from '../../../kit/json/json.ts';

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
  const entries = Object.entries(value).map(([name, each]): [string, Json] => {
    const entry: [string, Json] = [change(name), mapped(each as Json, change)];
    if (entry[0] !== name || entry[1] !== each) isChanged = true;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

/** A number, or the text that it is replaced by. */
export function mapNumber(value: number, change: (text: string) => string): number | string {
  const text = String(value);
  if (text.length < MIN_NUMBER_CHARACTERS) return value;
  const changed = change(text);
  return changed === text ? value : changed;
}
