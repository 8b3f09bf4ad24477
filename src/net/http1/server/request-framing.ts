import type { RequestHead } from './request-head.ts';

/** Where a request ends, and whether its connection stays open after it. */
export interface RequestFraming {
  /** Bytes of the body; 0 if it is chunked, or there is none. */
  readonly length: number;
  readonly isChunked: boolean;
  readonly keepsAlive: boolean;
  /** The caller sends `Expect: 100-continue`, and its body only after `100 Continue`. */
  readonly expectsContinue: boolean;
  /**
   * Why the request may not end where we think it does, as a message for the caller: a server before us may frame it
   * differently, and take part of its body for the next request. Undefined if its end is certain.
   */
  readonly problem: string | undefined;
}

const LENGTH = /^\d{1,15}$/;
const CONTINUE_EXPECTATION = /(?:^|\W)100-continue(?:$|\W)/i;
const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

/** How the request with this head is framed; undefined if its headers contradict each other. */
export function requestFramingOf({ version, rawHeaders }: RequestHead): RequestFraming | undefined {
  let length: string | undefined;
  let coding: string | undefined;
  let options = '';
  let expectation = '';
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // Most names have another length than all of these, and need no conversion to lower case.
    if (!NAME_LENGTHS.has(name.length)) continue;
    const value = rawHeaders[index + 1] as string;
    switch (name.toLowerCase()) {
      case 'content-length':
        if (length !== undefined || !LENGTH.test(value)) return undefined;
        length = value;
        break;
      case 'transfer-encoding':
        coding = coding === undefined ? value : `${coding}, ${value}`;
        break;
      case 'connection':
      // Not standard, but many servers heed it.
      case 'proxy-connection':
        options += `,${value.toLowerCase()}`;
        break;
      case 'expect':
        expectation = value;
        break;
    }
  }
  if (coding !== undefined && length !== undefined) return undefined;
  return {
    length: length === undefined ? 0 : Number(length),
    isChunked: coding !== undefined,
    keepsAlive: keepsAlive(version, options),
    expectsContinue: version === '1.1' && CONTINUE_EXPECTATION.test(expectation),
    problem: problemOf(version, coding),
  };
}

/** Lengths of the names that framing is about. */
const NAME_LENGTHS: ReadonlySet<number> = new Set(
  ['content-length', 'transfer-encoding', 'connection', 'proxy-connection', 'expect'].map(
    (name) => name.length,
  ),
);

function keepsAlive(version: string, options: string): boolean {
  if (options === '') return version === '1.1';
  const given = options.split(',').map((option) => option.trim());
  return !given.includes('close') && (version === '1.1' || given.includes('keep-alive'));
}

function problemOf(version: string, coding: string | undefined): string | undefined {
  if (!VERSIONS.has(version)) return `HTTP/${version} is not supported: use HTTP/1.1`;
  if (coding === undefined) return undefined;
  if (version === '1.0') return 'Transfer-Encoding: must not be given with HTTP/1.0';
  return coding.toLowerCase() === 'chunked'
    ? undefined
    : 'Transfer-Encoding: must be chunked and nothing else';
}
