import type { Candidate } from './candidate.ts';
import type { Needs } from './needs.ts';
import type { Rejections } from './rejections.ts';

/**
 * Parameters without which an answer is of little use.
 */
const WEIGHTY_PARAMETERS = ['tools', 'response_format', 'structured_outputs', 'verbosity'];

/** Rejects candidates of a model that lack such a parameter of the request, if another candidate has it. */
export function narrowToParameters(
  candidates: readonly Candidate[],
  { parameters }: Needs,
  rejections: Rejections,
): readonly Candidate[] {
  let left = candidates;
  for (const name of WEIGHTY_PARAMETERS) {
    if (!parameters.has(name)) continue;
    const takes = ({ endpoint }: Candidate) => endpoint.supportedParameters?.has(name) !== false;
    if (left.every(takes) || !left.some(takes)) continue;
    for (const candidate of left) {
      if (takes(candidate)) continue;
      rejections.add(
        candidate.endpoint,
        'supported_parameters',
        `does not support ${name}, others of the model do`,
      );
    }
    left = left.filter(takes);
  }
  return left;
}
