import { METHODS } from 'node:http';
import { CARRIAGE_RETURN, isText, LINE_FEED } from '../characters.ts';
import { parseFieldLines, type SectionProblem } from '../fields.ts';
import { REQUEST_RULES } from '../reading-rules.ts';

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** The version as in `HTTP/1.1`, without the name. */
  readonly version: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
/** Versions that get a reply; those other than HTTP/1 get a refusal. */
const REQUEST_LINE = /^([A-Z-]+) +([\x21-\x7e]+) HTTP\/(0\.9|1\.0|1\.1|2\.0)$/;
/** Characters of a server's name and of the user before it, as the inside of a class in a regular expression. */
const AUTHORITY_CLASS = "\\w.!~*'()%;:&=+$,[\\]-";
/** A path, `*` for the server as a whole, or an absolute URL whose server all readers find in the same place. */
const TARGET = new RegExp(
  `^(?:/|\\*$|[a-z]+://[${AUTHORITY_CLASS}]*(?:@[${AUTHORITY_CLASS}]*)?(?:[/?]|$))`,
  'i',
);

/**
 * A tab in a field that frames the request: some servers read such a field differently, and so end the request
 * elsewhere.
 */
const TAB_IN_FRAMING = /\r\n(?:content-length|transfer-encoding|(?:proxy-)?connection)[^\r]*\t/i;

/**
 * Reads a head: `text` has a character for each byte, from the request line to the end of the last header, each line
 * with its CRLF. Everything that two servers could read differently is malformed.
 */
export function parseRequestHead(text: string): RequestHead | SectionProblem {
  const lineEnd = text.indexOf('\r\n');
  const [, method, target, version] = REQUEST_LINE.exec(text.slice(0, lineEnd)) ?? [];
  if (method === undefined || target === undefined || version === undefined) return 'malformed';
  if (!KNOWN_METHODS.has(method)) return 'malformed';
  // CONNECT names a host and a port instead of a path.
  if (method !== 'CONNECT' && !TARGET.test(target)) return 'malformed';
  if (text.includes('\t') && TAB_IN_FRAMING.test(text)) return 'malformed';
  const rawHeaders = parseFieldLines(text, lineEnd + 2, REQUEST_RULES.maxFields);
  return typeof rawHeaders === 'string' ? rawHeaders : { method, target, version, rawHeaders };
}

/** Whether a text has a character that no head may have: then the rest of the head need not be awaited. */
export function cannotBeInHead(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isText(code)) continue;
    if (code === CARRIAGE_RETURN && (at + 1 === text.length || text.charCodeAt(at + 1) === LINE_FEED))
      continue;
    if (code === LINE_FEED && (at === 0 || text.charCodeAt(at - 1) === CARRIAGE_RETURN)) continue;
    return true;
  }
  return false;
}
