import type { JsonObject } from '../json/json.ts';
import { closingQuote } from '../json/json-scanner.ts';

/** A text that stands for any other. */
export const ANY_TEXT = '\u0000any text\u0000';

const ANY_LITERAL = JSON.stringify(ANY_TEXT);

/** What stands in JSON as it is: nothing in it is escaped. */
const PLAIN_TEXT = /^[^"\\\p{Cc}]*$/u;

const LINE_END = /[\r\n]/;

/**
 * JSON text with a place for one string. What stands before and after the place is the same in all texts of a form, so
 * whatever reads JSON from left to right finds the same in them but for that string: nothing of it need be parsed again.
 */
export class FrameForm {
  /** Up to the quote that opens the string, and from the one that closes it. */
  readonly #before: string;
  readonly #after: string;
  /** Bytes of both. */
  readonly #bytes: number;

  constructor(before: string, after: string) {
    this.#before = before;
    this.#after = after;
    this.#bytes = Buffer.byteLength(before) + Buffer.byteLength(after);
  }

  /** The form of JSON text in which `member` is the place; undefined unless `textAt` finds there what was put there. */
  static of(data: string, member: string, textAt: (value: JsonObject) => unknown): FrameForm | undefined {
    const name = data.indexOf(`"${member}":`);
    const opening = name === -1 ? -1 : data.indexOf('"', name + member.length + 3);
    const closing = opening === -1 ? undefined : closingQuote(data, opening + 1);
    if (closing === undefined) return undefined;
    const form = new FrameForm(data.slice(0, opening + 1), data.slice(closing));
    return textAt(parsed(form.write(ANY_TEXT))) === ANY_TEXT ? form : undefined;
  }

  /** The form of what is written with ANY_TEXT in one place. */
  static written(text: string): FrameForm | undefined {
    const [before, after, more] = text.split(ANY_LITERAL);
    return before === undefined || after === undefined || more !== undefined
      ? undefined
      : new FrameForm(`${before}"`, `"${after}`);
  }

  /** The form of such text with something around it. */
  within(head: string, tail: string): FrameForm {
    return new FrameForm(head + this.#before, this.#after + tail);
  }

  /** What stands in the place, in text of this form; undefined for text that is, or may be, of another. */
  textIn(data: string): string | undefined {
    const end = data.length - this.#after.length;
    const plain = this.#partIn(data, 0, data.length);
    if (plain === undefined || PLAIN_TEXT.test(plain)) return plain;
    if (closingQuote(data, this.#before.length) !== end) return undefined;
    const text = parsed(`"${plain}"`);
    return typeof text === 'string' ? text : undefined;
  }

  /** The same for a text between two places, if nothing in it is escaped. */
  plainTextIn(data: string, from: number, to: number): string | undefined {
    const part = this.#partIn(data, from, to);
    return part !== undefined && PLAIN_TEXT.test(part) ? part : undefined;
  }

  /** What stands between the quotes. Slices are compared three times as fast as startsWith and endsWith do it. */
  #partIn(data: string, from: number, to: number): string | undefined {
    const start = from + this.#before.length;
    const end = to - this.#after.length;
    const isLike =
      end >= start && data.slice(from, start) === this.#before && data.slice(end, to) === this.#after;
    return isLike ? data.slice(start, end) : undefined;
  }

  /** Whether it is all in one line. */
  get isOneLine(): boolean {
    return !LINE_END.test(this.#before) && !LINE_END.test(this.#after);
  }

  /** Text of this form. */
  write(text: string): string {
    return this.#before + JSON.stringify(text).slice(1, -1) + this.#after;
  }

  /** The same for a text that was found plain in another form. */
  writePlain(text: string): string {
    return this.#before + text + this.#after;
  }

  /** Bytes of what that writes. */
  bytesWith(text: string): number {
    return this.#bytes + Buffer.byteLength(text);
  }
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
