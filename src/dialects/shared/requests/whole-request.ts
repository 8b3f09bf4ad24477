import { invalidRequest } from '../../../ir/errors.ts';
import { Places } from '../../../ir/places.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { textAt } from '../../../kit/json/members.ts';
import { modelList, parseWishes } from './gateway-fields.ts';

/** What sets a format without conversations and streams apart from others of its kind. */
export interface WholeFormat {
  readonly format: GenerationRequest['format'];
  readonly formatFacts: GenerationRequest['formatFacts'];
  readonly documentedFields: ReadonlySet<string>;
  /** Names its answers in the plural. */
  readonly answers: string;
}

/**
 * The members that requests of such formats have in common. `given`: a validated body without nulls. Throws 400 if it
 * names no model or asks for a stream.
 */
export function wholeRequest(
  body: JsonObject,
  given: JsonObject,
  { format, formatFacts, documentedFields, answers }: WholeFormat,
) {
  const models = modelList(given.model, given.models);
  if (models.length === 0) throw invalidRequest([{ path: 'model', message: 'is required' }]);
  if (given.stream === true) {
    throw invalidRequest([{ path: 'stream', message: `must be false: ${answers} come in one piece` }]);
  }
  // The schema has checked these. Others, such as `plugins`, could have any shape, and mean nothing here.
  const documented = Object.fromEntries(Object.entries(given).filter(([name]) => documentedFields.has(name)));
  return {
    format,
    formatFacts,
    body,
    models,
    hasFallbackModels: Array.isArray(given.models) && given.models.length > 0,
    tools: [],
    sampling: {},
    user: textAt(given, 'user'),
    stream: false,
    echoUpstreamBody: false,
    wishes: parseWishes(documented),
    ext: {},
    places: new Places(),
    unknownFields: Object.keys(given).filter((name) => !documentedFields.has(name)),
  };
}
