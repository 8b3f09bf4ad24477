import { METHODS } from 'node:http';
import { CARRIAGE_RETURN, COLON, isText, LINE_FEED, SPACE, TAB } from './characters.ts';

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

/** Characters of names, by their codes (RFC 9110, 5.6.2). */
const IS_TOKEN = tableOf("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

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
    rawHeaders.push(text.slice(at, colon), trimmed(text, colon + 1, end));
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

function endOfToken(text: string, start: number): number {
  let at = start;
  while (IS_TOKEN[text.charCodeAt(at)] === 1) at++;
  return at;
}

function endOfValue(text: string, start: number): number {
  let at = start;
  while (isText(text.charCodeAt(at))) at++;
  return at;
}

function trimmed(text: string, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && isBlank(text.charCodeAt(first))) first++;
  while (last > first && isBlank(text.charCodeAt(last - 1))) last--;
  return text.slice(first, last);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
