import type { Sliced } from '../loop/turns.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  closingQuote,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-scanner.ts';

/** The members of a list in JSON text. */
export interface ListMembers {
  /** The text of each of the first members. */
  readonly first: readonly string[];
  /** How many there are; in a list that is not whole, how many are complete. */
  readonly count: number;
  /** False: the text ends before the list does. */
  readonly isWhole: boolean;
}

/** Characters that are looked at in one slice. */
const SLICE_CHARACTERS = 64 * 1024;

/**
 * The members of a list in JSON text of any length, which may be cut: of the text itself, or of the first of these
 * members of its object. Nothing is parsed, so that memory is bounded by `most` members. Undefined if there is no such
 * list. For text that is not JSON the result means nothing.
 */
export function* listMembers(
  text: string,
  names: readonly string[],
  most: number,
): Sliced<ListMembers | undefined> {
  const lists = new Map<string, OpenList>();
  const isList = /^\s*\[/.test(text);
  if (!isList && !/^\s*\{/.test(text)) return undefined;
  /** Depth of the members of the lists that are looked for. */
  const level = isList ? 1 : 2;
  let depth = 0;
  let [word, key] = ['', ''];
  let list: OpenList | undefined;
  let pausedAt = 0;
  for (let index = 0; index < text.length; index++) {
    if (index - pausedAt > SLICE_CHARACTERS) {
      pausedAt = index;
      yield;
    }
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = closingQuote(text, index + 1) ?? text.length;
        if (depth === 1) word = text.slice(index + 1, end);
        index = end;
        break;
      }
      case COLON:
        if (depth === 1) key = word;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth++;
        if (depth !== level || text.charCodeAt(index) === OPEN_BRACE) break;
        if (!isList && !names.includes(key)) break;
        list = { first: [], count: 0, isWhole: false, from: index + 1 };
        lists.set(key, list);
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        if (depth === level && list !== undefined) {
          endMember(list, text, index, most);
          list.isWhole = true;
          list = undefined;
        }
        depth--;
        break;
      case COMMA:
        if (depth === level && list !== undefined) endMember(list, text, index, most);
        break;
    }
  }
  const found = isList ? lists.get('') : lists.get(names.find((name) => lists.has(name)) ?? '');
  return found && { first: found.first, count: found.count, isWhole: found.isWhole };
}

interface OpenList {
  readonly first: string[];
  count: number;
  isWhole: boolean;
  /** Where the next member begins. */
  from: number;
}

function endMember(list: OpenList, text: string, at: number, most: number): void {
  const member = list.count < most ? text.slice(list.from, at) : '-';
  list.from = at + 1;
  if (member.trim() === '') return;
  if (list.count < most) list.first.push(member);
  list.count++;
}
