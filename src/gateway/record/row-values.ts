import { boundedText } from '../../kit/json/bounded-json.ts';

/** Characters that a row keeps of a text whose length the caller or the upstream chose. */
const MAX_TEXT_CHARACTERS = 256;

export function short(text: string): string {
  return boundedText(text, MAX_TEXT_CHARACTERS);
}

export function shortOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : short(text);
}

export function wholeMs(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds));
}
