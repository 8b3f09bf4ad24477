import { invalidRequest } from '../../ir/errors.ts';
import type {
  Effort,
  GenerationRequest,
  OutputFormat,
  ReasoningSettings,
  Sampling,
  Tool,
  ToolChoice,
} from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json.ts';
import type { Issue } from '../../kit/validate.ts';
import type { ParseContext } from '../dialect.ts';
import { modelList, parseCacheMark, parseWishes, withoutNulls } from '../gateway-fields.ts';
import { checkSemantics } from '../semantics.ts';
import { flagIn, membersBesides, numberIn, objectIn, objectsIn, textIn } from './members.ts';
import { parseMessages } from './parse-messages.ts';
import { CHAT_ONLY_FIELDS, DOCUMENTED_FIELDS } from './wire.ts';

/** Reads a validated body. Throws 400 and 422 for what the schema cannot say. */
export function parseRequest(body: JsonObject, _context: ParseContext): GenerationRequest {
  refuseWhatIsNotOffered(body);
  const given = withoutNulls(body);
  const models = modelList(given.model, given.models);
  if (models.length === 0) {
    throw invalidRequest([{ path: '', message: "Missing required parameter: 'model'." }]);
  }
  const request: GenerationRequest = {
    format: 'chat',
    body,
    models,
    hasFallbackModels: Array.isArray(given.models) && given.models.length > 0,
    items: parseMessages(objectsIn(given, 'messages')),
    tools: objectsIn(given, 'tools').map(parseTool),
    sampling: parseSampling(given),
    stream: given.stream === true,
    // The debug echo exists in the responses format only.
    echoUpstreamBody: false,
    wishes: parseWishes(given),
    ext: extOf(given),
    unknownFields: unknownFieldsOf(given),
    ...parseSettings(given),
  };
  checkSemantics(request, { toolChoice: 'tool_choice', budget: 'reasoning.max_tokens' });
  checkLogprobs(request.sampling);
  return request;
}

// --- What is refused ---------------------------------------------------------------------------------------------------

function refuseWhatIsNotOffered(body: JsonObject): void {
  if (typeof body.n === 'number' && body.n !== 1) {
    throw invalidRequest([{ path: 'n', message: 'must be 1: one request gives one choice' }]);
  }
  if (body.store === true) {
    throw invalidRequest([{ path: 'store', message: 'must be false: nothing is stored here' }]);
  }
  const issues = emptyFiles(body);
  if (issues.length > 0) throw invalidRequest(issues);
}

/** File parts that hold no file. */
function emptyFiles(body: JsonObject): Issue[] {
  return objectsIn(body, 'messages').flatMap((message, at) =>
    objectsIn(message, 'content').flatMap((part, place) => {
      const file = part.type === 'file' ? objectIn(part, 'file') : undefined;
      const isEmpty =
        file !== undefined &&
        textIn(file, 'file_data') === undefined &&
        textIn(file, 'file_id') === undefined;
      const path = `messages[${at}].content[${place}].file`;
      return isEmpty ? [{ path, message: 'must have file_data or file_id' }] : [];
    }),
  );
}

function checkLogprobs(sampling: Sampling): void {
  if (sampling.topLogprobs !== undefined && sampling.logprobs !== true) {
    throw invalidRequest([{ path: 'top_logprobs', message: 'needs logprobs to be true' }], 'unprocessable');
  }
}

/** Fields that have no effect here: what nobody documents, and an echo that this format does not have. */
function unknownFieldsOf(given: JsonObject): string[] {
  const unknown = Object.keys(given).filter((field) => !DOCUMENTED_FIELDS.has(field));
  return objectIn(given, 'debug')?.echo_upstream_body === true ? [...unknown, 'debug'] : unknown;
}

// --- Settings ------------------------------------------------------------------------------------------------------------

type Settings = Partial<GenerationRequest>;

function parseSettings(given: JsonObject): Settings {
  return compact({
    toolChoice: parseToolChoice(given.tool_choice),
    parallelToolCalls: flagIn(given, 'parallel_tool_calls'),
    maxOutputTokens: numberIn(given, 'max_completion_tokens') ?? numberIn(given, 'max_tokens'),
    reasoning: parseReasoning(given),
    outputFormat: parseOutputFormat(objectIn(given, 'response_format')),
    verbosity: textIn(given, 'verbosity'),
    modalities: Array.isArray(given.modalities) ? (given.modalities as string[]) : undefined,
    imageConfig: objectIn(given, 'image_config'),
    cache: parseCacheMark(given.cache_control),
    promptCacheKey: textIn(given, 'prompt_cache_key'),
    promptCacheOptions: objectIn(given, 'prompt_cache_options'),
    serviceTier: parseServiceTier(given),
    metadata: objectIn(given, 'metadata'),
    user: textIn(given, 'user'),
    safetyIdentifier: textIn(given, 'safety_identifier'),
  });
}

/** `fast` is another word for `priority`. */
export function parseServiceTier(given: JsonObject): string | undefined {
  const tier = textIn(given, 'service_tier');
  return tier === 'fast' ? 'priority' : tier;
}

function parseSampling(given: JsonObject): Sampling {
  return compact({
    temperature: numberIn(given, 'temperature'),
    topP: numberIn(given, 'top_p'),
    topK: numberIn(given, 'top_k'),
    topA: numberIn(given, 'top_a'),
    minP: numberIn(given, 'min_p'),
    frequencyPenalty: numberIn(given, 'frequency_penalty'),
    presencePenalty: numberIn(given, 'presence_penalty'),
    repetitionPenalty: numberIn(given, 'repetition_penalty'),
    seed: numberIn(given, 'seed'),
    stop: parseStop(given.stop),
    logitBias: objectIn(given, 'logit_bias'),
    logprobs: flagIn(given, 'logprobs'),
    topLogprobs: numberIn(given, 'top_logprobs'),
  });
}

function parseStop(stop: Json | undefined): string[] | undefined {
  if (typeof stop === 'string') return [stop];
  return Array.isArray(stop) ? (stop as string[]) : undefined;
}

function parseReasoning(given: JsonObject): ReasoningSettings | undefined {
  const reasoning = objectIn(given, 'reasoning');
  const settings = compact<ReasoningSettings>({
    effort: (textIn(reasoning, 'effort') ?? textIn(given, 'reasoning_effort')) as Effort | undefined,
    budgetTokens: numberIn(reasoning, 'max_tokens'),
    enabled: flagIn(reasoning, 'enabled'),
    exclude: flagIn(reasoning, 'exclude') ?? (given.include_reasoning === false ? true : undefined),
    summary: textIn(reasoning, 'summary'),
    context: textIn(reasoning, 'context'),
    mode: textIn(reasoning, 'mode'),
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function parseOutputFormat(format: JsonObject | undefined): OutputFormat | undefined {
  if (format === undefined) return undefined;
  switch (format.type) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const wanted = objectIn(format, 'json_schema');
      return compact<OutputFormat>({
        type: 'json-schema',
        name: textIn(wanted, 'name') ?? '',
        schema: objectIn(wanted, 'schema') ?? {},
        description: textIn(wanted, 'description'),
        strict: flagIn(wanted, 'strict'),
      });
    }
    default:
      return { type: 'opaque', dialect: 'chat', value: format };
  }
}

// --- Tools -----------------------------------------------------------------------------------------------------------

const TOOL_FIELDS = new Set(['type', 'function', 'custom', 'cache_control']);

function parseTool(tool: JsonObject): Tool {
  const chat = membersBesides(tool, TOOL_FIELDS);
  const ext = chat === undefined ? undefined : { chat };
  switch (tool.type) {
    case 'function': {
      const declared = objectIn(tool, 'function');
      return compact({
        type: 'function',
        name: textIn(declared, 'name') ?? '',
        description: textIn(declared, 'description'),
        parameters: objectIn(declared, 'parameters'),
        strict: flagIn(declared, 'strict'),
        cache: parseCacheMark(tool.cache_control),
        ext,
      });
    }
    case 'custom': {
      const declared = objectIn(tool, 'custom');
      return compact({
        type: 'custom',
        name: textIn(declared, 'name') ?? '',
        description: textIn(declared, 'description'),
        format: parseCustomFormat(objectIn(declared, 'format')),
        ext,
      });
    }
    default:
      return { type: 'hosted', dialect: 'chat', kind: tool.type as string, value: tool };
  }
}

/** The chat format nests the grammar one level deeper than the representation. */
function parseCustomFormat(format: JsonObject | undefined): JsonObject | undefined {
  const grammar = objectIn(format, 'grammar');
  return grammar === undefined ? format : { type: 'grammar', ...grammar };
}

function parseToolChoice(choice: Json | undefined): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (choice === undefined || typeof choice !== 'object' || choice === null || Array.isArray(choice)) {
    return undefined;
  }
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { mode: 'tool', kind: choice.type, name: nameOfChosen(choice) };
    case 'allowed_tools': {
      const allowed = objectIn(choice, 'allowed_tools');
      const tools = objectsIn(allowed, 'tools').map(flatChosenTool);
      return { mode: 'allowed', required: allowed?.mode === 'required', tools };
    }
    default:
      return { mode: 'hosted', dialect: 'chat', value: choice };
  }
}

/** The representation names allowed tools as the responses format does: `{type, name}`. */
function flatChosenTool(tool: JsonObject): JsonObject {
  return tool.type === 'function' || tool.type === 'custom'
    ? { type: tool.type, name: nameOfChosen(tool) }
    : tool;
}

function nameOfChosen(choice: JsonObject): string {
  return textIn(objectIn(choice, String(choice.type)), 'name') ?? '';
}

// --- Escapes -----------------------------------------------------------------------------------------------------------

function extOf(given: JsonObject): GenerationRequest['ext'] {
  const own = CHAT_ONLY_FIELDS.filter((field) => given[field] !== undefined);
  return own.length === 0 ? {} : { chat: Object.fromEntries(own.map((field) => [field, given[field]])) };
}

/** Drops undefined members, so that a setting that was not given is absent. */
function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
