import type { SearchEngineName } from '../config/schema/search-engines.ts';
import type { Nanos } from '../kit/money.ts';

export interface WebSettings {
  /** Engines that can be used, in the order of the configuration. */
  readonly engines: ReadonlyMap<SearchEngineName, EngineSettings>;
  /** Engine for requests that name none: one of `engines`, `auto` or `native`. */
  readonly defaultEngine: string | undefined;
  readonly limits: WebLimits;
}

export interface EngineSettings {
  readonly apiKey: string | undefined;
  /** Replaces the engine's own address. */
  readonly url: string | undefined;
  /** Price of a search; undefined = that of the endpoint. */
  readonly price: SearchPrice | undefined;
  /** Modes that callers may choose, the usual one first; empty = the engine has none. */
  readonly modes: readonly string[];
}

export interface SearchPrice {
  /** Price in a mode without a price of its own. */
  readonly nanos: Nanos;
  readonly byMode: ReadonlyMap<string, Nanos>;
  /** Price of each result beyond those that every search includes. */
  readonly resultNanos: Nanos;
}

/** Limits of one search or page (`tools.limits`). */
export interface WebLimits {
  readonly fetchMs: number;
  /** Milliseconds for all pages of a request together. */
  readonly toolMs: number;
  readonly readBytes: number;
  /** Characters that one plugin adds to a prompt. */
  readonly resultCharacters: number;
}
