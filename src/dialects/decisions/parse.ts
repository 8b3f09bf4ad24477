import type { DecisionForm } from '../../ir/decision.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, stringAt, textAt, withoutNulls } from '../../kit/json/members.ts';
import { answerSchema, promptItems } from '../shared/decisions/prompt.ts';
import { type WholeFormat, wholeRequest } from '../shared/requests/whole-request.ts';
import { facts } from './facts.ts';
import { parseQuestions } from './parse-content.ts';
import { DOCUMENTED_FIELDS } from './wire.ts';

const FORMAT: WholeFormat = {
  format: 'decisions',
  formatFacts: facts.request,
  documentedFields: DOCUMENTED_FIELDS,
  answers: 'decisions',
};

/** Parses a validated body in either form. Throws 400 for conditions that the schema cannot express. */
export function parseRequest(body: JsonObject): GenerationRequest {
  const given = withoutNulls(body);
  const request = wholeRequest(body, given, FORMAT);
  const form = formOf(given);
  const questions = parseQuestions(given.questions, form);
  return compact({
    ...request,
    items: promptItems(given[CONTENT[form]] ?? '', questions),
    decision: {
      form,
      questions: questions.map(({ name, kind, options }) => ({ name, kind, options })),
    },
    outputFormat: { type: 'json-schema', name: 'answers', schema: answerSchema(questions), strict: true },
    requestedOutputTokens: numberAt(given, 'max_output_tokens'),
    promptCacheKey: textAt(given, 'prompt_cache_key'),
    safetyIdentifier: stringAt(given, 'safety_identifier'),
  });
}

/** The member that says what the questions are about. */
const CONTENT: Readonly<Record<DecisionForm, 'state' | 'input'>> = { 'system-one': 'state', openai: 'input' };

/** The form of a body: by its questions, which must fit what they are about. */
function formOf({ questions, state, input }: JsonObject): DecisionForm {
  const form = Array.isArray(questions) ? 'openai' : 'system-one';
  const [own, other] = form === 'openai' ? [input, state] : [state, input];
  const path = CONTENT[form];
  const kind = form === 'openai' ? 'a list of questions' : 'questions by name';
  if (own === undefined) throw invalidRequest([{ path, message: `is required with ${kind}` }]);
  if (other !== undefined) {
    const wrong = form === 'openai' ? 'state' : 'input';
    throw invalidRequest([{ path: wrong, message: `cannot be combined with ${kind}: use ${path}` }]);
  }
  return form;
}
