import { isJsonObject, type Json, type JsonObject } from '../kit/json/json.ts';
import { numberAt, stringAt } from '../kit/json/members.ts';
import { usdOf } from '../kit/money.ts';
import type { FILTER_FIELD_NAMES } from '../ports/following/destinations.ts';
import type { FollowedGeneration } from '../ports/following/follower.ts';

export interface FilterFacts extends FollowedGeneration {
  /** Null = unknown: the key was deleted. */
  readonly apiKeyName: string | null;
}

/** A member of a generation that rules may name. */
export interface FilterField {
  readonly kind: 'text' | 'number';
  /** Null = there is none. */
  read(facts: FilterFacts): string | number | null;
}

/** Characters of a prompt or answer that rules see. */
const MAX_SEEN_CHARACTERS = 100_000;

function text(read: (facts: FilterFacts) => string | null | undefined): FilterField {
  return { kind: 'text', read: (facts) => read(facts) ?? null };
}

function number(read: (facts: FilterFacts) => number | undefined): FilterField {
  return { kind: 'number', read: (facts) => read(facts) ?? null };
}

export const FILTER_FIELDS: Readonly<Record<string, FilterField>> = {
  model: text(({ generation: { row } }) => stringAt(row, 'model')),
  provider: text(({ generation: { row } }) => stringAt(row, 'provider_name')),
  session_id: text(({ generation: { row } }) => stringAt(row, 'session_id')),
  user_id: text(({ generation: { row } }) => stringAt(row, 'external_user')),
  api_key_name: text(({ apiKeyName }) => apiKeyName),
  finish_reason: text(({ generation: { row } }) => stringAt(row, 'finish_reason')),
  input: text(({ content }) => content && inputText(content.input)),
  output: text(({ content }) => content?.output.completion?.slice(0, MAX_SEEN_CHARACTERS)),
  total_cost: number(({ generation: { charge } }) => usdOf(charge.creditNanos)),
  total_tokens: number(
    ({ generation: { row } }) =>
      (numberAt(row, 'tokens_prompt') ?? 0) + (numberAt(row, 'tokens_completion') ?? 0),
  ),
  prompt_tokens: number(({ generation: { row } }) => numberAt(row, 'tokens_prompt')),
  completion_tokens: number(({ generation: { row } }) => numberAt(row, 'tokens_completion')),
} satisfies Record<(typeof FILTER_FIELD_NAMES)[number], FilterField>;

/** Members of requests, in any format, that hold words. */
const TEXT_MEMBERS: ReadonlySet<string> = new Set(['arguments', 'content', 'output', 'prompt', 'text']);

/** The words of a prompt, a line each. Images and files are left out. */
function inputText(input: JsonObject): string {
  const lines: string[] = [];
  let characters = 0;
  const gather = (value: Json | undefined, isText: boolean): void => {
    if (characters >= MAX_SEEN_CHARACTERS) return;
    if (typeof value === 'string') {
      if (!isText) return;
      const seen = value.slice(0, MAX_SEEN_CHARACTERS - characters);
      lines.push(seen);
      characters += seen.length + 1;
    } else if (Array.isArray(value)) for (const each of value) gather(each, isText);
    else if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) gather(member, TEXT_MEMBERS.has(name));
    }
  };
  gather(input, false);
  return lines.join('\n');
}
