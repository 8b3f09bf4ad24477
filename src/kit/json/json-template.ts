import type { JsonObject } from './json.ts';
import { closingQuote } from './json-scanner.ts';

/** Inserted into a new template to check that `stringAt` finds the gap; occurs in no text of a model. */
const PROBE = '\u0000probe\u0000';

/** A string without escapes, which its literal holds as it is. */
const PLAIN_LITERAL = /^"[^"\\\p{Cc}]*"$/u;

/** V8 copies slices of fewer than 13 characters instead of pointing into the text. */
const MAX_COPIED_LENGTH = 15;

/**
 * JSON text with a gap for one string. Texts with the same characters before and after the gap differ in that string
 * alone, so only the string has to be parsed.
 */
export class JsonTemplate {
  /** Up to the quote that opens the string. */
  readonly #before: string;
  /** From the quote that closes it. */
  readonly #after: string;

  private constructor(before: string, after: string) {
    this.#before = before;
    this.#after = after;
  }

  /**
   * The template of `text` with the gap at its first member of that name. Undefined unless `stringAt` finds there what
   * is put into the gap, which it would not in a nested object or where the member occurs twice.
   */
  static of(
    text: string,
    member: string,
    stringAt: (value: JsonObject) => unknown,
  ): JsonTemplate | undefined {
    const name = text.indexOf(`"${member}":`);
    const opening = name === -1 ? -1 : text.indexOf('"', name + member.length + 3);
    const closing = opening === -1 ? undefined : closingQuote(text, opening + 1);
    if (closing === undefined) return undefined;
    const template = new JsonTemplate(text.slice(0, opening), text.slice(closing + 1));
    return stringAt(parsed(template.write(PROBE))) === PROBE ? template : undefined;
  }

  /** The string in the gap of such a text; undefined for a text of another template. */
  read(text: string): string | undefined {
    const start = this.#before.length;
    const end = text.length - this.#after.length;
    // Comparing slices takes a third of the time of startsWith and endsWith.
    if (end < start || text.slice(0, start) !== this.#before || text.slice(end) !== this.#after) {
      return undefined;
    }
    const literal = text.slice(start, end);
    if (literal.length < MAX_COPIED_LENGTH && PLAIN_LITERAL.test(literal)) return literal.slice(1, -1);
    // Parsing also copies: a longer slice would keep the whole text in memory.
    const string = parsed(literal);
    return typeof string === 'string' ? string : undefined;
  }

  write(string: string): string {
    return this.#before + JSON.stringify(string) + this.#after;
  }
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
