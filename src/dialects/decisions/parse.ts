import type { DecisionForm } from '../../ir/decision.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { Places } from '../../ir/places.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, stringAt, textAt, withoutNulls } from '../../kit/json/members.ts';
import { answerSchema, promptItems } from '../shared/decisions/prompt.ts';
import { modelList, parseWishes } from '../shared/requests/gateway-fields.ts';
import { facts } from './facts.ts';
import { parseQuestions } from './parse-content.ts';
import { DOCUMENTED_FIELDS } from './wire.ts';

/** Parses a validated body in either form. Throws 400 for conditions that the schema cannot express. */
export function parseRequest(body: JsonObject): GenerationRequest {
  const given = withoutNulls(body);
  const models = modelList(given.model, given.models);
  if (models.length === 0) throw invalidRequest([{ path: 'model', message: 'is required' }]);
  if (given.stream === true) {
    throw invalidRequest([{ path: 'stream', message: 'must be false: decisions come in one piece' }]);
  }
  const form = formOf(given);
  const questions = parseQuestions(given.questions, form);
  return compact({
    format: 'decisions',
    formatFacts: facts.request,
    body,
    models,
    hasFallbackModels: Array.isArray(given.models) && given.models.length > 0,
    items: promptItems(given[CONTENT[form]] ?? '', questions),
    decision: {
      form,
      questions: questions.map(({ name, kind, options }) => ({ name, kind, options })),
    },
    tools: [],
    sampling: {},
    outputFormat: { type: 'json-schema', name: 'answers', schema: answerSchema(questions), strict: true },
    promptCacheKey: textAt(given, 'prompt_cache_key'),
    user: textAt(given, 'user'),
    safetyIdentifier: stringAt(given, 'safety_identifier'),
    stream: false,
    echoUpstreamBody: false,
    wishes: parseWishes(documentedOf(given)),
    ext: {},
    places: new Places(),
    unknownFields: Object.keys(given).filter((name) => !DOCUMENTED_FIELDS.has(name)),
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

/** The fields that the schema has checked. Others, such as `plugins`, could have any shape, and mean nothing here. */
function documentedOf(given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([name]) => DOCUMENTED_FIELDS.has(name)));
}
