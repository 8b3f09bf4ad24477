import { isJsonObject, type Json } from '../../kit/json/json.ts';

/** A value with empty log probabilities, wherever they stand: their tokens repeat the text. */
export function withoutLogprobs(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(withoutLogprobs);
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'logprobs' ? emptied(member) : withoutLogprobs(member),
    ]),
  );
}

function emptied(logprobs: Json | undefined): Json {
  return Array.isArray(logprobs) ? [] : null;
}

/** JSON text without log probabilities. Other text stays as it is. */
export function withoutLogprobsIn(text: string): string {
  if (!text.includes('"logprobs"')) return text;
  try {
    return JSON.stringify(withoutLogprobs(JSON.parse(text)));
  } catch {
    return text;
  }
}
