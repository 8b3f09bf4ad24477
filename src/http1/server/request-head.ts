import { METHODS } from 'node:http';
import {
  CARRIAGE_RETURN,
  COLON,
  headerValue,
  isText,
  LINE_FEED,
  TOKEN_CLASS,
} from '../characters.ts';

/** The head of a request, as it was written. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** As in `HTTP/1.1`, without the name. */
  readonly version: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}

/** Why bytes are no head of a request. */
export type HeadProblem = 'malformed' | 'too-large';

/** More headers than any client sends. */
const MOST_HEADERS = 1_000;

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
/** Versions that can be answered: with a refusal, where they are not those of HTTP/1. */
const REQUEST_LINE = /^([A-Z-]+) +([\x21-\x7e]+) HTTP\/(0\.9|1\.0|1\.1|2\.0)$/;
/** A path, the server as a whole, or a whole address. */
const TARGET = /^(?:\/|\*$|[a-z]+:\/\/)/i;

/** Tabs where other servers read a field in another way, and take the body for the next request or the other way round. */
const TAB_IN_FRAMING = /\r\n(?:content-length|transfer-encoding|(?:proxy-)?connection)[^\r]*\t/i;

/** Whether a character may be in a name, by its code. */
const IS_TOKEN = tableOf(new RegExp(`[${TOKEN_CLASS}]`));

/**
 * Reads a head: `text` has a character for each byte, from the request line to the end of the last header, each line
 * with its CRLF. What could be read in two ways is malformed.
 */
export function parseRequestHead(text: string): RequestHead | HeadProblem {
  const lineEnd = text.indexOf('\r\n');
  const [, method, target, version] = REQUEST_LINE.exec(text.slice(0, lineEnd)) ?? [];
  if (method === undefined || target === undefined || version === undefined) return 'malformed';
  if (!KNOWN_METHODS.has(method)) return 'malformed';
  // It asks for another host to be connected, not for anything of ours.
  if (method !== 'CONNECT' && !TARGET.test(target)) return 'malformed';
  if (text.includes('\t') && TAB_IN_FRAMING.test(text)) return 'malformed';
  const rawHeaders = parseHeaderLines(text, lineEnd + 2);
  return typeof rawHeaders === 'string' ? rawHeaders : { method, target, version, rawHeaders };
}

/** Names and values of the header lines from `start` to the end of a text, in turn. */
export function parseHeaderLines(text: string, start: number): string[] | HeadProblem {
  const rawHeaders: string[] = [];
  let at = start;
  while (at < text.length) {
    const colon = endOfToken(text, at);
    if (colon === at || text.charCodeAt(colon) !== COLON) return 'malformed';
    const end = endOfValue(text, colon + 1);
    if (text.charCodeAt(end) !== CARRIAGE_RETURN || text.charCodeAt(end + 1) !== LINE_FEED)
      return 'malformed';
    if (rawHeaders.length === 2 * MOST_HEADERS) return 'too-large';
    rawHeaders.push(text.slice(at, colon), headerValue(text, colon + 1, end));
    at = end + 2;
  }
  return rawHeaders;
}

/** Whether a text has a character that no head has: it need not be waited for. */
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

/** Whether a character may be in a name. */
export function isToken(code: number): boolean {
  return IS_TOKEN[code] === 1;
}

function endOfToken(text: string, start: number): number {
  let at = start;
  while (isToken(text.charCodeAt(at))) at++;
  return at;
}

function endOfValue(text: string, start: number): number {
  let at = start;
  while (isText(text.charCodeAt(at))) at++;
  return at;
}

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(characters.test(String.fromCharCode(code))));
}
