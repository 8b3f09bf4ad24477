import { isJsonObject, type Json } from '../../../kit/json/json.ts';

/** Digits from which on a number may be personal data: a card, a telephone. */
const MIN_DIGITS = 7;

/**
 * The input of a function call with every text in it replaced by what `change` returns: names, strings, and numbers
 * with many digits, which become strings if they change. Input that is not JSON is one text. The same input if nothing
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
  if (typeof value === 'number') return mappedNumber(value, change);
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

function mappedNumber(value: number, change: (text: string) => string): Json {
  const text = String(value);
  if (text.length < MIN_DIGITS) return value;
  const changed = change(text);
  return changed === text ? value : changed;
}
