import type { EmbeddingInput, VectorEncoding } from '../../ir/embedding.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, stringAt, textAt, withoutNulls } from '../../kit/json/members.ts';
import { type WholeFormat, wholeRequest } from '../shared/requests/whole-request.ts';
import { facts } from './facts.ts';
import { DOCUMENTED_FIELDS, MAX_INPUTS } from './wire.ts';

/** Output modality that routing requires of models. */
const EMBEDDINGS: readonly string[] = ['embeddings'];

const FORMAT: WholeFormat = {
  format: 'embeddings',
  formatFacts: facts.request,
  documentedFields: DOCUMENTED_FIELDS,
  answers: 'embeddings',
};

/** Parses a validated body. Throws 400 for conditions that the schema cannot express. */
export function parseRequest(body: JsonObject): GenerationRequest {
  const given = withoutNulls(body);
  const request = wholeRequest(body, given, FORMAT);
  return compact({
    ...request,
    items: [],
    embedding: compact({
      inputs: inputsOf(given.input),
      encoding: (stringAt(given, 'encoding_format') ?? 'float') as VectorEncoding,
      dimensions: numberAt(given, 'dimensions'),
      inputType: textAt(given, 'input_type'),
    }),
    modalities: EMBEDDINGS,
  });
}

/** The inputs of `input`: a single text or list of token ids is one input. */
function inputsOf(input: Json | undefined): readonly EmbeddingInput[] {
  if (typeof input === 'string') return [nonEmpty(input, 'input')];
  if (!Array.isArray(input) || input.length === 0) {
    throw invalidRequest([{ path: 'input', message: 'must be a text, or a list that is not empty' }]);
  }
  if (input.every((entry) => typeof entry === 'number')) return [input];
  if (input.length > MAX_INPUTS) {
    const message = `must have at most ${MAX_INPUTS} entries, but has ${input.length}: send them in parts`;
    throw invalidRequest([{ path: 'input', message }]);
  }
  return (input as EmbeddingInput[]).map((entry, index) => nonEmpty(entry, `input[${index}]`));
}

function nonEmpty(input: EmbeddingInput, path: string): EmbeddingInput {
  if (input.length > 0) return input;
  throw invalidRequest([{ path, message: 'must not be empty' }]);
}
