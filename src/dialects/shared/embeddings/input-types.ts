import type { GenerationRequest } from '../../../ir/request.ts';
import type { Report } from '../report/report.ts';

/** The texts of a request. Routing keeps requests with token ids away from upstreams that take texts only. */
export function textsOf({ embedding }: GenerationRequest): readonly string[] {
  return (embedding?.inputs ?? []).map((input) => (typeof input === 'string' ? input : ''));
}

/** The words of one vendor for what vectors are for, by those of the caller. */
export type InputTypes = ReadonlyMap<string, string>;

/**
 * The vendor's word for what the vectors of a request are for; its own words pass as they are. Undefined if the
 * caller says nothing, or something that the vendor has no word for, which is reported.
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

/** Reports the fields of a caller's body that no member of the upstream's body corresponds to. */
export function reportUnknown({ unknownFields, user }: GenerationRequest, report: Report): void {
  if (user !== undefined) report.dropped('user', 'the provider does not take end users with embeddings');
  for (const name of unknownFields) report.dropped(name, 'the provider has no such field');
}
