import { GatewayError } from '../../ir/errors.ts';
import type { RequestHead } from './request-head.ts';

/** Where a request ends, and what becomes of its connection. */
export interface Framing {
  /** Bytes of the body; 0 where it comes in chunks, or there is none. */
  readonly length: number;
  readonly isChunked: boolean;
  /** The connection may have another request after this one. */
  readonly keepsAlive: boolean;
  /** The caller sends its body only when told to (`Expect: 100-continue`). */
  readonly awaitsInvitation: boolean;
  /**
   * Why the request cannot be trusted to end where we think it does, if so: a server before us may read it differently,
   * and take part of its body for the next request.
   */
  readonly problem: GatewayError | undefined;
}

const LENGTH = /^\d{1,15}$/;
const INVITATION = /(?:^|\W)100-continue(?:$|\W)/i;
const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

/** How the request with this head is framed; undefined when its headers contradict each other. */
export function framingOf({ version, rawHeaders }: RequestHead): Framing | undefined {
  let length: string | undefined;
  let coding: string | undefined;
  let options = '';
  let expectation = '';
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // Most names differ in length from all of these: those need not be put in lower case.
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
      // No standard knows it, but many servers heed it.
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
    awaitsInvitation: version === '1.1' && INVITATION.test(expectation),
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

function problemOf(version: string, coding: string | undefined): GatewayError | undefined {
  if (!VERSIONS.has(version)) return problem(`HTTP/${version} is not supported: use HTTP/1.1`);
  if (coding === undefined) return undefined;
  if (version === '1.0') return problem('Transfer-Encoding: must not be given with HTTP/1.0');
  return coding.toLowerCase() === 'chunked'
    ? undefined
    : problem('Transfer-Encoding: must be chunked and nothing else');
}

function problem(message: string): GatewayError {
  return new GatewayError('invalid-request', message);
}
