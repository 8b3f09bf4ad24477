import { TOKEN_CLASS } from '../characters.ts';

/** All that is known of a POST request which is not parsed. */
export interface ScannedHead {
  readonly target: string;
  /** Bytes of the body. */
  readonly length: number;
}

/** Lines that every parser reads in the same way. */
const PLAIN_HEAD = new RegExp(
  `^POST ([\\x21-\\x7e]+) HTTP/1\\.1\\r\\n(?:[${TOKEN_CLASS}]+:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n)*$`,
);
const LENGTH = /\r\ncontent-length: *(\d{1,15})\r\n/i;
/** Fields that could change the framing of the request or the use of its connection. */
const NEEDS_PARSING =
  /transfer-encoding|expect|upgrade|connection:(?! *keep-alive\r)|content-length[\s\S]*content-length/i;

/**
 * Finds the target and the length of a request by regular expressions, which is much faster than parsing: used during
 * overload. `head` has a character for each byte, up to the line break of its last line. Returns undefined if only
 * parsing can tell where the request ends.
 */
export function scanHead(head: string): ScannedHead | undefined {
  const target = PLAIN_HEAD.exec(head)?.[1];
  const length = LENGTH.exec(head)?.[1];
  if (target === undefined || length === undefined || NEEDS_PARSING.test(head)) return undefined;
  return { target, length: Number(length) };
}
