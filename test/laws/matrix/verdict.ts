import type { DialectName, Format } from '../../../src/ir/items.ts';

/** The formats that callers speak, in the order of the page. */
export const FORMATS: readonly Format[] = ['messages', 'responses', 'chat'];

/** The dialects that upstreams speak, in the order of the page. */
export const UPSTREAMS: readonly DialectName[] = ['messages', 'responses', 'chat', 'gemini', 'bedrock'];

/**
 * What becomes of a feature between a format and a dialect.
 *
 * - `kept`: it arrives with the same meaning; another field name is no change.
 * - `adapted`: it arrives in another form, and the translation report says how.
 * - `dropped`: it does not arrive, and the translation report says so.
 * - `refused`: the caller gets an error with the path; no upstream is called.
 * - `-`: not expressible, because one of the two sides has no field for it.
 */
export type Verdict = 'kept' | 'adapted' | 'dropped' | 'refused' | '-';

/** It does not arrive and the report has no entry: no table may contain this. */
export const LOST = 'lost without a word';

/** Verdicts of one row: for each format, the word for each dialect in the order of `UPSTREAMS`. */
export type Verdicts = Readonly<Record<Format, string>>;

/** The verdicts of a row that lists none. */
export const ALL_KEPT: Verdicts = {
  messages: 'kept kept kept kept kept',
  responses: 'kept kept kept kept kept',
  chat: 'kept kept kept kept kept',
};

/** The verdict that a table holds for one pair. */
export function verdictIn(verdicts: Verdicts, format: Format, upstream: DialectName): string {
  return verdicts[format].trim().split(/\s+/)[UPSTREAMS.indexOf(upstream)] ?? '';
}
