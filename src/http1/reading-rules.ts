/**
 * How strictly messages are read. Requests are read strictly, because a proxy before us may frame them differently and
 * let one caller forge the request of another. Responses are read as servers in the field write them. This is the only
 * place where the two sides differ in what they share.
 */
export interface ReadingRules {
  /** Fields of a head, and of trailers. */
  readonly maxFields: number;
  /** Lines that continue in the next one (obs-fold) are joined; else they are malformed. */
  readonly joinsFoldedLines: boolean;
  /** Digits of a chunk's size, leading zeros included. */
  readonly maxSizeDigits: number;
  /** Bytes of the line before a chunk: digits and extensions. */
  readonly maxSizeLineBytes: number;
  /** Chunk extensions must follow their grammar; else they may be any text. */
  readonly checksExtensions: boolean;
  /** Bytes of extensions in one body. */
  readonly maxExtensionBytes: number;
  readonly maxTrailerBytes: number;
  /**
   * Names that must not be trailers, in lower case: a server that heeds them would frame or route the request
   * differently.
   */
  readonly refusedTrailers: ReadonlySet<string>;
}

export const REQUEST_RULES: ReadingRules = {
  maxFields: 1_000,
  joinsFoldedLines: false,
  maxSizeDigits: 13,
  maxSizeLineBytes: Number.POSITIVE_INFINITY,
  checksExtensions: true,
  maxExtensionBytes: 16_384,
  maxTrailerBytes: 16_384,
  refusedTrailers: new Set([
    'connection',
    'content-length',
    'expect',
    'host',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ]),
};

export const RESPONSE_RULES: ReadingRules = {
  maxFields: Number.POSITIVE_INFINITY,
  joinsFoldedLines: true,
  maxSizeDigits: Number.POSITIVE_INFINITY,
  maxSizeLineBytes: 4_096,
  checksExtensions: false,
  maxExtensionBytes: Number.POSITIVE_INFINITY,
  // Heads and trailers of one response share a limit, which the parser keeps.
  maxTrailerBytes: Number.POSITIVE_INFINITY,
  refusedTrailers: new Set(),
};
