import type { TObject } from 'typebox';
import { invalidRequest } from '../../ir/errors.ts';
import { MAX_ISSUES } from '../../kit/json/validate.ts';
import type { Route } from '../route.ts';
import type { RateClass } from './rate-limits.ts';

/**
 * Routes that refuse query parameters that they do not declare. Generations report them instead, like fields. Pages of
 * the catalogue and probes take any: clients and monitors of many kinds add their own.
 */
const REFUSING: ReadonlySet<RateClass> = new Set(['management', 'analytics', 'datasets', 'files']);

/** The Anthropic client adds `beta=true` to the calls of its beta half, where it selects nothing. */
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
export function refuseUnknownParameters(query: URLSearchParams, { rateClass, request }: Route): void {
  if (!REFUSING.has(rateClass)) return;
  const unknown = unknownParametersIn(query, request.query);
  if (unknown.length === 0) return;
  const known = Object.keys(request.query?.properties ?? {});
  const offer = known.length === 0 ? 'this route takes none' : `this route takes ${known.join(', ')}`;
  const message = `is not a known query parameter: ${offer}`;
  const listed = unknown.slice(0, MAX_ISSUES);
  throw invalidRequest(listed.map((name) => ({ path: name.slice(0, MAX_NAME_CHARACTERS), message })));
}
