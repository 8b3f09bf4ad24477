import type { JsonObject } from '../../kit/json/json.ts';

export interface SearchQuery {
  readonly text: string;
  readonly maxCharacters: number;
  readonly maxResults: number;
  /** Hosts to search in; empty = everywhere. */
  readonly includeHosts: readonly string[];
  readonly excludeHosts: readonly string[];
  /** How thoroughly to search, in the words of the engine; undefined = it has no modes. */
  readonly mode: string | undefined;
  readonly location: UserLocation | undefined;
}

export interface UserLocation {
  /** Two letters, as ISO 3166 has them. */
  readonly country?: string;
  readonly region?: string;
  readonly city?: string;
}

export interface FoundPage {
  readonly url: string;
  readonly title: string;
  /** Text of the page, or a summary of it. */
  readonly content: string;
}

/** One HTTP request to an engine; the path is below its base address. */
export interface EngineCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON by POST; absent = a GET. */
  readonly body?: JsonObject;
}

/** A search engine: how it is asked, and what it answers. */
export interface SearchEngine {
  /** Undefined: the configuration must give one. */
  readonly baseUrl: string | undefined;
  readonly maxResults: number;
  /** Results beyond the included ones are billed by so many at once; absent = one by one. */
  readonly billedResults?: number;
  readonly maxQueryCharacters: number;
  /** Fields of a location that it takes; absent = none. */
  readonly placeFields?: readonly (keyof UserLocation)[];
  call(query: SearchQuery, apiKey: string): EngineCall;
  /** The results in its answer; undefined for an answer of another shape. */
  results(answer: JsonObject): readonly FoundPage[] | undefined;
}
