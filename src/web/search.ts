import { boundedText } from '../kit/json/bounded-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../kit/json/json.ts';
import { objectAt, textAt } from '../kit/json/members.ts';
import type { Nanos } from '../kit/money.ts';
import { urlOf } from '../kit/net/url-of.ts';
import type { Egress } from '../net/egress/egress.ts';
import { EgressProblem, mayBeBilled } from '../net/egress/egress-problem.ts';
import { type DomainList, domainProblem } from './domains.ts';
import type { FoundPage, SearchEngine, SearchQuery, UserLocation } from './engines/engine.ts';
import { shortenedText } from './engines/shortened-text.ts';
import type { EngineSettings, SearchPrice, WebLimits } from './web-settings.ts';

export interface SearchWish {
  readonly text: string;
  readonly maxResults: number;
  readonly include: DomainList;
  readonly exclude: DomainList;
  readonly mode: string | undefined;
  readonly location: UserLocation | undefined;
}

/** A search that gave no answer. Its message never holds an address or a credential. */
export class SearchProblem extends Error {
  override readonly name = 'SearchProblem';
  /** True if the engine may have searched, and bills it. */
  readonly mayBeBilled: boolean;
  /** What the search cost nevertheless. */
  nanos: Nanos = 0n;

  constructor(message: string, mayHaveCost: boolean) {
    super(message);
    this.mayBeBilled = mayHaveCost;
  }
}

/** The engine, how it is configured, and what a search may take. */
export interface SearchDependencies {
  readonly engine: SearchEngine;
  readonly settings: EngineSettings;
  readonly limits: WebLimits;
  readonly egress: Egress;
  readonly signal: AbortSignal;
}

/** Results that are asked for beyond `maxResults` if the engine may return some that the domains rule out. */
const SPARE_RESULTS = 10;

/** Runs one search. Rejects with a SearchProblem, or the signal's reason. */
export async function search(
  wish: SearchWish,
  dependencies: SearchDependencies,
): Promise<readonly FoundPage[]> {
  const { engine, settings, limits } = dependencies;
  const { path, headers, body } = engine.call(queryOf(wish, engine, settings), settings.apiKey ?? '');
  const base = (settings.url ?? engine.baseUrl ?? '').replace(/\/+$/, '');
  const answer = await ask(base + path, headers, body, dependencies);
  const results = engine.results(answer);
  if (results === undefined) throw new SearchProblem('its answer has no list of results', true);
  return chosen(results, wish, limits.resultCharacters);
}

/** Results that the price of a search includes. */
const INCLUDED_RESULTS = 10;

export function priceOf(
  { nanos, byMode, resultNanos }: SearchPrice,
  wish: SearchWish,
  engine: SearchEngine,
  { modes }: Pick<EngineSettings, 'modes'>,
): Nanos {
  const { billedResults = 1 } = engine;
  const more = Math.max(0, resultsAskedFor(wish, engine) - INCLUDED_RESULTS);
  const billed = Math.ceil(more / billedResults) * billedResults;
  return (byMode.get(modeOf(wish, modes) ?? '') ?? nanos) + BigInt(billed) * resultNanos;
}

const PLACE_FIELDS = ['country', 'region', 'city', 'timezone'];

/** Members of a plugin or of a tool's parameters that the engine does not take, or callers may not choose. */
export function untakenMembers(
  engine: SearchEngine,
  asked: JsonObject,
  settings: Pick<EngineSettings, 'modes'> | undefined,
): string[] {
  const mode = textAt(asked, 'mode');
  const place = objectAt(asked, 'user_location');
  const location = locationOf(place);
  const { placeFields = [] } = engine;
  const isPlaceTaken = location === undefined || placeFields.length > 0;
  const taken = new Set<string>(placeFields.filter((name) => location?.[name] !== undefined));
  const lost = PLACE_FIELDS.filter((name) => textAt(place, name) !== undefined && !taken.has(name));
  return [
    ...(mode === undefined || settings?.modes.includes(mode) === true ? [] : ['mode']),
    ...(isPlaceTaken ? [] : ['user_location']),
    ...(isPlaceTaken ? lost.map((name) => `user_location.${name}`) : []),
  ];
}

/** The mode that is asked for if callers may choose it, else the usual one. */
function modeOf({ mode }: Pick<SearchWish, 'mode'>, modes: readonly string[]): string | undefined {
  return mode !== undefined && modes.includes(mode) ? mode : modes[0];
}

function resultsAskedFor({ maxResults, include, exclude }: SearchWish, engine: SearchEngine): number {
  const isFiltered = !include.isEmpty || !exclude.isEmpty;
  return Math.min(isFiltered ? maxResults + SPARE_RESULTS : maxResults, engine.maxResults);
}

function queryOf(wish: SearchWish, engine: SearchEngine, { modes }: EngineSettings): SearchQuery {
  const { text, include, exclude, location } = wish;
  return {
    text: shortenedText(text, engine.maxQueryCharacters),
    maxCharacters: engine.maxQueryCharacters,
    maxResults: resultsAskedFor(wish, engine),
    includeHosts: include.coveringHosts() ?? [],
    excludeHosts: exclude.wholeHosts(),
    mode: modeOf(wish, modes),
    location: engine.placeFields === undefined ? undefined : location,
  };
}

async function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: JsonObject | undefined,
  { egress, limits, signal }: SearchDependencies,
): Promise<JsonObject> {
  const shared = {
    limits: { totalMs: limits.fetchMs, maxBytes: limits.readBytes, maxRedirects: 0 },
    signal,
  };
  const accepting = { accept: 'application/json', 'accept-encoding': 'gzip', ...headers };
  try {
    const { status, bytes, isCut } = await egress.call(
      url,
      body === undefined
        ? { ...shared, headers: accepting }
        : {
            ...shared,
            method: 'POST',
            headers: { ...accepting, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          },
    );
    if (status !== 200) throw new SearchProblem(`it answered with status ${status}`, mayBeBilled(status));
    if (isCut) throw new SearchProblem('its answer is too long', true);
    return parsed(bytes);
  } catch (problem) {
    if (!(problem instanceof EgressProblem)) throw problem;
    throw new SearchProblem(problem.message, mayBeBilled(problem));
  }
}

function parsed(bytes: Buffer): JsonObject {
  let value: Json | undefined;
  try {
    value = JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    // Reported below.
  }
  if (!isJsonObject(value)) throw new SearchProblem('its answer is no JSON object', true);
  return value;
}

/** Results that the domains allow, each address once, with as much content as fits. */
function chosen(
  pages: readonly FoundPage[],
  { maxResults, include, exclude }: SearchWish,
  maxCharacters: number,
): FoundPage[] {
  const seen = new Set<string>();
  const kept: FoundPage[] = [];
  for (const { url: written, title, content } of pages) {
    if (kept.length === maxResults) break;
    const url = written.trim();
    if (seen.has(url) || !isShown(url, include, exclude)) continue;
    seen.add(url);
    kept.push({ url, title: boundedText(oneLine(title), MAX_TITLE_CHARACTERS), content: content.trim() });
  }
  const each = Math.min(MAX_CONTENT_CHARACTERS, Math.floor(maxCharacters / Math.max(1, kept.length)));
  return kept.map((page) => ({ ...page, content: boundedText(page.content, each) }));
}

const MAX_URL_CHARACTERS = 2048;
const MAX_TITLE_CHARACTERS = 300;
const MAX_CONTENT_CHARACTERS = 4000;

function isShown(url: string, include: DomainList, exclude: DomainList): boolean {
  // Parsing drops line breaks inside of an address, which would stand in the prompt and in citations.
  if (url.length > MAX_URL_CHARACTERS || /\s/.test(url)) return false;
  const parsedUrl = urlOf(url);
  if (parsedUrl === undefined) return false;
  const isWeb = /^https?:$/.test(parsedUrl.protocol) && parsedUrl.username === '';
  return isWeb && domainProblem(parsedUrl, include, exclude) === undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A user's location as requests have it; a country that is no code of two letters is left out. */
export function locationOf(given: JsonObject | undefined): UserLocation | undefined {
  if (given === undefined) return undefined;
  const [country, region, city] = ['country', 'region', 'city'].map((name) => textAt(given, name));
  const code = country !== undefined && /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : undefined;
  return {
    ...(code !== undefined && { country: code }),
    ...(region !== undefined && { region }),
    ...(city !== undefined && { city }),
  };
}
