import type { JsonObject } from './json.ts';
import { closingQuote } from './json-scanner.ts';

/** A text that stands for any other. */
export const ANY_TEXT = '\u0000any text\u0000';

const ANY_LITERAL = JSON.stringify(ANY_TEXT);

/** A string of JSON in which nothing is escaped. */
const PLAIN_LITERAL = /^"[^"\\\p{Cc}]*"$/u;

/**
 * JSON text with a place for one string. What stands before and after the place is the same in all texts of a form, so
 * whatever reads JSON from left to right finds the same in them but for that string: nothing of it need be parsed again.
 */
export class FrameForm {
  readonly #before: string;
  readonly #after: string;

  constructor(before: string, after: string) {
    this.#before = before;
    this.#after = after;
  }

  /** The form of JSON text in which `member` is the place; undefined unless `textAt` finds there what was put there. */
  static of(data: string, member: string, textAt: (value: JsonObject) => unknown): FrameForm | undefined {
    const name = data.indexOf(`"${member}":`);
    const opening = name === -1 ? -1 : data.indexOf('"', name + member.length + 3);
    const closing = opening === -1 ? undefined : closingQuote(data, opening + 1);
    if (closing === undefined) return undefined;
    const form = new FrameForm(data.slice(0, opening), data.slice(closing + 1));
    return textAt(parsed(form.write(ANY_TEXT))) === ANY_TEXT ? form : undefined;
  }

  /** The form of what is written with ANY_TEXT in one place. */
  static written(text: string): FrameForm | undefined {
    const [before, after, more] = text.split(ANY_LITERAL);
    return before === undefined || after === undefined || more !== undefined
      ? undefined
      : new FrameForm(before, after);
  }

  /** What stands in the place, in text of this form; undefined for text that is, or may be, of another. */
  textIn(data: string): string | undefined {
    const before = this.#before;
    const after = this.#after;
    const end = data.length - after.length;
    // Slices are compared three times as fast as startsWith and endsWith do it.
    if (end < before.length + 2 || data.slice(0, before.length) !== before || data.slice(end) !== after) {
      return undefined;
    }
    const literal = data.slice(before.length, end);
    if (PLAIN_LITERAL.test(literal)) return literal.slice(1, -1);
    if (literal.charCodeAt(0) !== 34 || closingQuote(literal, 1) !== literal.length - 1) return undefined;
    const text = parsed(literal);
    return typeof text === 'string' ? text : undefined;
  }

  /** Text of this form. */
  write(text: string): string {
    return this.#before + JSON.stringify(text) + this.#after;
  }
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
