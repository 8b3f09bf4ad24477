import type { DialectName, Format } from '../../src/ir/items.ts';

/** The formats that callers speak, in the order of the page. */
export const FORMATS: readonly Format[] = ['messages', 'responses', 'chat'];

/** The dialects that upstreams speak, in the order of the page. */
export const UPSTREAMS: readonly DialectName[] = ['messages', 'responses', 'chat', 'gemini', 'bedrock'];

/**
 * What becomes of something on its way between a format and a dialect.
 *
 * - `kept`: it arrives, and means the same; being called otherwise there is no change.
 * - `adapted`: it arrives in another form, and the translation report says how.
 * - `dropped`: it does not arrive, and the translation report says so.
 * - `refused`: the request is answered with an error that names the place; no upstream is called.
 * - `-`: not expressible, because one of the two sides has no word for it.
 */
export type Verdict = 'kept' | 'adapted' | 'dropped' | 'refused' | '-';

/** What was seen instead of a verdict, which no table may hold: gone, and nobody was told. */
export const LOST = 'lost without a word';

/** Verdicts of one row: for each format, the word for each dialect in the order of `UPSTREAMS`. */
export type Verdicts = Readonly<Record<Format, string>>;

/** What a row says where it says nothing. */
export const ALL_KEPT: Verdicts = {
  messages: 'kept kept kept kept kept',
  responses: 'kept kept kept kept kept',
  chat: 'kept kept kept kept kept',
};

/** The verdict that a table holds for one pair. */
export function verdictIn(verdicts: Verdicts, format: Format, upstream: DialectName): string {
  return verdicts[format].trim().split(/\s+/)[UPSTREAMS.indexOf(upstream)] ?? '';
}
