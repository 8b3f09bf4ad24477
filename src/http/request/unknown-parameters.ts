import type { TObject } from 'typebox';
import type { RateClass } from '../../endpoints/endpoint.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { MAX_ISSUES } from '../../kit/json/validate.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { quoted } from '../../kit/text/quoted.ts';
import type { Route } from '../route.ts';

/**
 * Routes that refuse query parameters that they do not declare: a list that ignored a misspelt filter would be wrong,
 * and so would a probe that ignored a misspelt part. Generations report them instead, like fields.
 */
const REFUSING: ReadonlySet<RateClass> = new Set(['management', 'analytics', 'datasets', 'files', 'probe']);

/** Tags of public routes that refuse them too. */
const REFUSING_TAGS: ReadonlySet<string> = new Set(['Catalogue', 'Operation']);

/** Parameters that select nothing: the Anthropic client adds `beta=true` to the calls of its beta half. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set(['beta']);

/** Callers may choose names as long as a request line: messages cut them. */
const MAX_NAME_CHARACTERS = 64;

/** Names in a query that a route does not declare, each once. */
export function unknownParametersIn(query: URLSearchParams, declared: TObject | null): readonly string[] {
  const known = declared?.properties ?? {};
  const names = new Set(query.keys());
  return [...names].filter((name) => !Object.hasOwn(known, name) && !WITHOUT_MEANING.has(name));
}

/** Throws 400 that names what the route does not know, and what it does. */
export function refuseUnknownParameters(query: URLSearchParams, route: Route): void {
  const { rateClass, tag, request } = route;
  if (!REFUSING.has(rateClass) && (!REFUSING_TAGS.has(tag) || isPage(route))) return;
  const unknown = unknownParametersIn(query, request.query);
  if (unknown.length === 0) return;
  const known = Object.keys(request.query?.properties ?? {});
  const offer = known.length === 0 ? 'route takes none' : `route takes ${known.join(', ')}`;
  throw invalidRequest(
    unknown.slice(0, MAX_ISSUES).map((name) => {
      const meant = nearestWord(name, known);
      const suggestion = meant === undefined ? ': this' : `; did you mean ${quoted(meant)}? This`;
      const message = `is not a known query parameter${suggestion} ${offer}`;
      return { path: name.slice(0, MAX_NAME_CHARACTERS), message };
    }),
  );
}

/** Pages take any parameter: links are passed on with more of them, and a browser shows no JSON error well. */
function isPage({ responses }: Route): boolean {
  return responses[200]?.content['text/html'] !== undefined;
}
