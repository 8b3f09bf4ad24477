import { TOKEN_CLASS } from '../characters.ts';

/** A request of which there is nothing to know but where it ends. */
export interface PlainRequest {
  readonly target: string;
  /** Bytes of its body. */
  readonly length: number;
}

/** Lines that can be read in one way only. */
const PLAIN = new RegExp(
  `^POST ([\\x21-\\x7e]+) HTTP/1\\.1\\r\\n(?:[${TOKEN_CLASS}]+:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n)*$`,
);
const LENGTH = /\r\ncontent-length: *(\d{1,15})\r\n/i;
/** What may change where a request ends, or what becomes of its connection. */
const NOT_PLAIN =
  /transfer-encoding|expect|upgrade|connection:(?! *keep-alive\r)|content-length[\s\S]*content-length/i;

/**
 * Finds out where a request ends without reading its head line by line, for those that are told nothing but that there
 * is no time for them. `head` has a character for each byte, up to and with the line break of its last line. Undefined
 * where it takes more to be sure.
 */
export function plainRequest(head: string): PlainRequest | undefined {
  const target = PLAIN.exec(head)?.[1];
  const length = LENGTH.exec(head)?.[1];
  if (target === undefined || length === undefined || NOT_PLAIN.test(head)) return undefined;
  return { target, length: Number(length) };
}
