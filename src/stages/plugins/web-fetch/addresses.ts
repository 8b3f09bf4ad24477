import { Pace, type Sliced } from '../../../kit/loop/turns.ts';

/** Protocols of addresses; those besides HTTP are refused by name. `\b`: a character stands before it in the text. */
const PROTOCOL = /\b(?:https?|ftp|file|gopher)$/i;
const MAX_PROTOCOL_CHARACTERS = 'gopher'.length;

const MAX_ADDRESS_CHARACTERS = 2048;

/** The rest of an address, with one character more than it may have. */
const REST = new RegExp(`[^\\s<>"\`|\\\\^{}]{1,${MAX_ADDRESS_CHARACTERS + 1}}`, 'y');

const MARK = '://';

/** The first addresses in a text, each once, in their order. A long text is searched in slices. */
export function* addressesIn(text: string, most: number): Sliced<string[]> {
  const found = new Set<string>();
  const pace = new Pace();
  for (let at = text.indexOf(MARK); at !== -1 && found.size < most; at = text.indexOf(MARK, at)) {
    if (pace.tick()) yield;
    const before = text.slice(Math.max(0, at - MAX_PROTOCOL_CHARACTERS - 1), at);
    const protocol = PROTOCOL.exec(before)?.[0];
    REST.lastIndex = at + MARK.length;
    const rest = protocol === undefined ? undefined : REST.exec(text)?.[0];
    at += MARK.length + (rest?.length ?? 0);
    if (rest === undefined) continue;
    const address = withoutPunctuation(protocol + MARK + rest);
    if (address.length <= MAX_ADDRESS_CHARACTERS) found.add(address);
  }
  return [...found];
}

const PUNCTUATION = ".,;:!?'*_~";

/** The address without punctuation and markup of the sentence around it. */
function withoutPunctuation(address: string): string {
  /** Opening brackets without a closing one before `end`; below zero: the other way round. */
  let openRound = countOf(address, '(') - countOf(address, ')');
  let openSquare = countOf(address, '[') - countOf(address, ']');
  let end = address.length;
  for (; end > 0; end--) {
    const last = address.charAt(end - 1);
    if (last === ')' && openRound < 0) openRound++;
    else if (last === ']' && openSquare < 0) openSquare++;
    else if (!PUNCTUATION.includes(last)) break;
  }
  return address.slice(0, end);
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}
