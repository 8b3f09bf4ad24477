import type { GenerationRequest } from '../../../ir/request.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import { isJsonObject } from '../../../kit/json/json.ts';
import { compact } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';
import { type InputTypes, inputTypeOf, reportUnknown, textsOf } from './input-types.ts';

/** Texts of one call of Cohere's models, at Cohere and elsewhere. */
export const COHERE_MAX_INPUTS = 96;

/** Cohere's words are those of the format. */
const INPUT_TYPES: InputTypes = new Map(
  ['search_document', 'search_query', 'classification', 'clustering', 'image'].map((word) => [word, word]),
);

/** Purpose of vectors if the caller names none: Cohere's models require one. */
const DEFAULT_INPUT_TYPE = 'search_document';

/** The body of a call, without the model. */
export function cohereBody(request: GenerationRequest, report: Report): JsonObject {
  const inputType = inputTypeOf(request, INPUT_TYPES, report);
  if (inputType === undefined) {
    report.coerced('input_type', `set to ${DEFAULT_INPUT_TYPE}, because the provider needs one`);
  }
  reportUnknown(request, report);
  return compact({
    texts: [...textsOf(request)] as string[],
    input_type: inputType ?? DEFAULT_INPUT_TYPE,
    embedding_types: ['float'] as string[],
    output_dimension: request.embedding?.dimensions,
  });
}

/** The vectors of an answer: by encoding, or in older answers a plain list. */
export function cohereVectors({ embeddings }: JsonObject): readonly Json[] | undefined {
  const list = isJsonObject(embeddings) ? embeddings.float : embeddings;
  return Array.isArray(list) ? list : undefined;
}
