/**
 * How strictly messages are read. Requests are read strictly, because a proxy before us may frame them differently and
 * let one caller forge the request of another. Responses are read as servers in the field write them. In shared code
 * the two sides differ by these rules only.
 */
export interface ReadingRules {
  /** Fields of a head, and of trailers. */
  readonly maxFields: number;
  /** If true, field lines that continue on the next line (obs-fold) are joined; else they are malformed. */
  readonly joinsFoldedLines: boolean;
  /** Digits of a chunk's size, leading zeros included. */
  readonly maxChunkSizeDigits: number;
  /** Bytes of the line before a chunk: digits and extensions. */
  readonly maxChunkLineBytes: number;
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
  maxChunkSizeDigits: 13,
  maxChunkLineBytes: Number.POSITIVE_INFINITY,
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
  maxChunkSizeDigits: Number.POSITIVE_INFINITY,
  maxChunkLineBytes: 4_096,
  checksExtensions: false,
  maxExtensionBytes: Number.POSITIVE_INFINITY,
  // Head and trailers of a response share one limit: `ResponseParser` passes what the head has left of it.
  maxTrailerBytes: Number.POSITIVE_INFINITY,
  refusedTrailers: new Set(),
};
