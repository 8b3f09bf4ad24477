import type { SearchEngineName } from '../../config/schema/search-engines.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import { plainText } from '../html/plain-text.ts';
import type { FoundPage, SearchEngine, SearchQuery, UserLocation } from './engine.ts';
import { shortenedText } from './shortened-text.ts';

const CONTENT_CHARACTERS = 4000;

const COUNTRY: SearchEngine['placeFields'] = ['country'];
const ALL_PLACE_FIELDS: SearchEngine['placeFields'] = ['country', 'region', 'city'];

type Headers = Readonly<Record<string, string>>;

function bearer(apiKey: string): Headers {
  return keyHeader('authorization', apiKey && `Bearer ${apiKey}`);
}

/** Without a credential there is no header: an engine at an address of the operator may need none. */
function keyHeader(name: string, value: string): Headers {
  return value === '' ? {} : { [name]: value };
}

/** A list, or nothing where it is empty: engines take an empty list for a filter that nothing passes. */
const unlessEmpty = (list: readonly string[]) => (list.length === 0 ? undefined : [...list]);

export const ENGINES: Readonly<Record<SearchEngineName, SearchEngine>> = {
  exa: {
    baseUrl: 'https://api.exa.ai',
    // More than 25 cost several times as much.
    maxResults: 25,
    maxQueryCharacters: 2000,
    placeFields: COUNTRY,
    call: (query, apiKey) => ({
      path: '/search',
      headers: keyHeader('x-api-key', apiKey),
      body: compact({
        query: query.text,
        type: query.mode,
        numResults: query.maxResults,
        includeDomains: unlessEmpty(query.includeHosts),
        excludeDomains: unlessEmpty(query.excludeHosts),
        userLocation: query.location?.country,
        contents: { text: { maxCharacters: CONTENT_CHARACTERS } },
      }),
    }),
    results: resultsWith('text'),
  },
  tavily: {
    baseUrl: 'https://api.tavily.com',
    maxResults: 20,
    maxQueryCharacters: 400,
    placeFields: COUNTRY,
    call: (query, apiKey) => ({
      path: '/search',
      headers: bearer(apiKey),
      body: compact({
        query: query.text,
        max_results: query.maxResults,
        search_depth: query.mode,
        include_domains: unlessEmpty(query.includeHosts),
        exclude_domains: unlessEmpty(query.excludeHosts),
        country: countryName(query.location),
      }),
    }),
    results: resultsWith('content'),
  },
  brave: {
    baseUrl: 'https://api.search.brave.com',
    maxResults: 20,
    maxQueryCharacters: 400,
    placeFields: COUNTRY,
    call: (query, apiKey) => ({
      path: `/res/v1/web/search?${parameters({
        q: withSites(query),
        count: String(query.maxResults),
        extra_snippets: 'true',
        country: query.location?.country,
      })}`,
      headers: keyHeader('x-subscription-token', apiKey),
    }),
    results: (answer) => {
      // An answer that found nothing has no `web`, but repeats the query.
      if (objectAt(answer, 'web') === undefined && objectAt(answer, 'query') === undefined) return undefined;
      return objectsAt(objectAt(answer, 'web'), 'results').map((result) => {
        const snippets = [stringAt(result, 'description'), ...(stringsAt(result, 'extra_snippets') ?? [])];
        return page(result, plainText(snippets.filter((text) => text !== undefined).join('\n')));
      });
    },
  },
  firecrawl: {
    baseUrl: 'https://api.firecrawl.dev',
    maxResults: 100,
    billedResults: 10,
    maxQueryCharacters: 500,
    placeFields: ALL_PLACE_FIELDS,
    call: (query, apiKey) => ({
      path: '/v2/search',
      headers: bearer(apiKey),
      body: compact({
        query: withSites(query),
        limit: query.maxResults,
        country: query.location?.country,
        location: placeName(query.location),
      }),
    }),
    results: (answer) => {
      // Version 1 of its interface, which private installations still speak, has the list without kinds.
      const isList = Array.isArray(answer.data);
      const found = isList ? objectsAt(answer, 'data') : objectsAt(objectAt(answer, 'data'), 'web');
      if (!isList && objectAt(answer, 'data') === undefined) return undefined;
      return found.map((result) =>
        page(result, stringAt(result, 'markdown') ?? stringAt(result, 'description')),
      );
    },
  },
  parallel: {
    baseUrl: 'https://api.parallel.ai',
    maxResults: 40,
    maxQueryCharacters: 5000,
    placeFields: COUNTRY,
    call: (query, apiKey) => ({
      path: '/v1/search',
      headers: keyHeader('x-api-key', apiKey),
      body: compact({
        objective: query.text,
        search_queries: [query.text.slice(0, 200)] as string[],
        mode: query.mode,
        advanced_settings: compact({
          max_results: query.maxResults,
          location: query.location?.country,
          source_policy:
            query.includeHosts.length + query.excludeHosts.length === 0
              ? undefined
              : compact({
                  include_domains: unlessEmpty(query.includeHosts),
                  exclude_domains: unlessEmpty(query.excludeHosts),
                }),
        }),
      }),
    }),
    results: listed((result) => (stringsAt(result, 'excerpts') ?? []).join('\n')),
  },
  perplexity: {
    baseUrl: 'https://api.perplexity.ai',
    maxResults: 20,
    maxQueryCharacters: 1000,
    placeFields: COUNTRY,
    call: (query, apiKey) => ({
      path: '/search',
      headers: bearer(apiKey),
      body: compact({
        query: query.text,
        max_results: query.maxResults,
        country: query.location?.country,
        // One list, of hosts to search in or of hosts to leave out.
        search_domain_filter: unlessEmpty(
          query.includeHosts.length > 0 ? query.includeHosts : query.excludeHosts.map((host) => `-${host}`),
        )?.slice(0, 20),
      }),
    }),
    results: resultsWith('snippet'),
  },
  searxng: {
    baseUrl: undefined,
    maxResults: 50,
    maxQueryCharacters: 500,
    call: (query, apiKey) => ({
      path: `/search?${parameters({ q: withSites(query), format: 'json' })}`,
      headers: bearer(apiKey),
    }),
    results: resultsWith('content'),
  },
};

/** Reads the results of an engine that lists them in `results`, with the content of each in `member`. */
function resultsWith(member: string): SearchEngine['results'] {
  return listed((result) => stringAt(result, member));
}

/** Reads the results of an engine that lists them in `results`. */
function listed(contentOf: (result: JsonObject) => string | undefined): SearchEngine['results'] {
  return (answer) =>
    Array.isArray(answer.results)
      ? objectsAt(answer, 'results').map((result) => page(result, contentOf(result)))
      : undefined;
}

function page(result: JsonObject, content = ''): FoundPage {
  return {
    url: stringAt(result, 'url') ?? '',
    title: plainText(stringAt(result, 'title') ?? ''),
    content,
  };
}

/** Hosts that are named in the words of a query. */
const MAX_SITE_WORDS = 10;

/** The query with hosts in its words, for engines that have no field for them. Results are filtered in any case. */
function withSites({ text, includeHosts, excludeHosts, maxCharacters }: SearchQuery): string {
  const included = includeHosts.slice(0, MAX_SITE_WORDS).map((host) => `site:${host}`);
  const excluded = excludeHosts.slice(0, MAX_SITE_WORDS).map((host) => `-site:${host}`);
  const sites = [...(included.length > 0 ? [included.join(' OR ')] : []), ...excluded].join(' ');
  if (sites === '' || sites.length >= maxCharacters / 2) return text;
  return `${shortenedText(text, maxCharacters - sites.length - 1)} ${sites}`;
}

function parameters(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}

/** The English name of a country, in lower case. */
function countryName(location: UserLocation | undefined): string | undefined {
  const { country } = location ?? {};
  if (country === undefined) return undefined;
  return new Intl.DisplayNames(['en'], { type: 'region' }).of(country)?.toLowerCase();
}

function placeName(location: UserLocation | undefined): string | undefined {
  const { city, region } = location ?? {};
  const names = [city, region].filter((name) => name !== undefined);
  return names.length === 0 ? undefined : names.join(', ');
}
