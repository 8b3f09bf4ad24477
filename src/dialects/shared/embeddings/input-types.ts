import type { GenerationRequest } from '../../../ir/request.ts';
import type { Report } from '../report/report.ts';

/** The texts of a request. Routing keeps token ids away from upstreams that take only texts. */
export function textsOf({ embedding }: GenerationRequest): readonly string[] {
  return (embedding?.inputs ?? []).map((input) => (typeof input === 'string' ? input : ''));
}

/** One vendor's words for the purpose of vectors, by the caller's. */
export type InputTypes = ReadonlyMap<string, string>;

/**
 * The vendor's word for the purpose of a request's vectors; its own words pass unchanged. Undefined if the caller
 * names none, or one that the vendor has no word for, which is reported.
 */
export function inputTypeOf(
  { embedding }: GenerationRequest,
  words: InputTypes,
  report: Report,
): string | undefined {
  const asked = embedding?.inputType;
  if (asked === undefined) return undefined;
  const own = [...words.values()].find((word) => word.toLowerCase() === asked.toLowerCase());
  const word = words.get(asked.toLowerCase()) ?? own;
  if (word === undefined) report.dropped('input_type', `the provider has no word for ${asked}`);
  return word;
}

/** Reports the caller's fields without a counterpart in the upstream's body. */
export function reportUnknown({ unknownFields, user }: GenerationRequest, report: Report): void {
  if (user !== undefined) report.dropped('user', 'the provider does not take end users with embeddings');
  for (const name of unknownFields) report.dropped(name, 'the provider has no such field');
}
