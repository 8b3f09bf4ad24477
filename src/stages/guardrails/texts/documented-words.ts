import { DIALECTS, REQUEST_FORMATS } from '../../../dialects/dialects.ts';
import type { EmbeddingSettings } from '../../../ir/embedding.ts';
import type { Event, ItemHead } from '../../../ir/events.ts';
import type { Annotation, CacheMark, Item, Part, ServerCallItem, Source } from '../../../ir/items.ts';
import type { OutputFormat, Tool, ToolChoice, ToolNamespace } from '../../../ir/request.ts';
import type { ReasoningSettings, Sampling } from '../../../ir/settings.ts';
import { SchemaWords } from '../../../kit/json/schema-words.ts';
import { SERVER_TOOLS } from '../../../tools/table.ts';

/**
 * Words that are documented, and so are no texts of a caller or a model: names of members, and values of members that
 * have a list of them. Those of formats are read from the schemas of requests. All other names and values are scanned,
 * which does no harm to a word that is missing here: a pattern has to match it first.
 */

type NamesOf<T> = T extends unknown ? keyof T & string : never;

type ScannedEvent = Extract<
  Event,
  { type: 'item-start' | 'item-end' | 'part-start' | 'opaque' | 'image-data' | 'annotation' | 'finish' }
>;

/** Objects of the representation that are walked for texts. */
type Walked =
  | Item
  | ServerCallItem
  | Part
  | Source
  | Annotation
  | CacheMark
  | ItemHead
  | ScannedEvent
  | Tool
  | ToolNamespace
  | ToolChoice
  | OutputFormat
  | Sampling
  | ReasoningSettings
  | EmbeddingSettings;

/** Names of members in the representation. The gateway itself chose them: a filter must not replace one. */
const OWN_NAMES: Readonly<Record<NamesOf<Walked>, true>> = {
  adaptive: true,
  annotation: true,
  annotations: true,
  budgetTokens: true,
  cache: true,
  callId: true,
  category: true,
  content: true,
  context: true,
  data: true,
  description: true,
  detail: true,
  dialect: true,
  dimensions: true,
  display: true,
  effort: true,
  enabled: true,
  encoding: true,
  encrypted: true,
  endIndex: true,
  exclude: true,
  explanation: true,
  ext: true,
  fileId: true,
  filename: true,
  format: true,
  frequencyPenalty: true,
  givenBy: true,
  head: true,
  hostedAs: true,
  id: true,
  input: true,
  inputType: true,
  inputs: true,
  isError: true,
  item: true,
  kind: true,
  logitBias: true,
  logprobs: true,
  mediaType: true,
  minP: true,
  mode: true,
  name: true,
  namespace: true,
  nativeReason: true,
  otherEffort: true,
  output: true,
  parameters: true,
  part: true,
  phase: true,
  presencePenalty: true,
  reason: true,
  refusal: true,
  repetitionPenalty: true,
  required: true,
  role: true,
  schema: true,
  seed: true,
  serviceTier: true,
  settled: true,
  shown: true,
  signature: true,
  signatureFormat: true,
  signatureGivenBy: true,
  source: true,
  startIndex: true,
  status: true,
  stop: true,
  stopSequence: true,
  strict: true,
  summary: true,
  temperature: true,
  text: true,
  title: true,
  tool: true,
  tools: true,
  topA: true,
  topK: true,
  topLogprobs: true,
  topP: true,
  ttl: true,
  type: true,
  url: true,
  value: true,
};

/** Names that only answers have, and what is replayed of them. */
const ANSWER_NAMES =
  wordsIn(`item_id output_index content_index summary_index sequence_number created_at completed_at
  expires_at transcript delta token logprob top_logprobs bytes usage object server_name container`);

/** Steps of tools that upstreams run (`response.web_search_call.searching`), and signs of life. */
const TOOL_STEPS =
  /^keepalive$|^response\.(?:(?:web_search|file_search|image_generation|code_interpreter|mcp)_call\.(?:in_progress|searching|generating|interpreting|partial_image|completed|failed)|mcp_list_tools\.(?:in_progress|completed|failed)|compaction\.compacting|(?:code_interpreter_call_code|mcp_call_arguments|shell_call_output_content|apply_patch_call_operation_diff|audio|audio\.transcript)\.(?:delta|done)|shell_call_command\.(?:added|delta|done))$/;

/** Values of members in the representation, and words that only answers have. */
const OWN_VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  type: wordsIn(`message reasoning tool-call tool-result image opaque text refusal file audio video url-citation
    server-call function custom hosted json json-schema item-start item-end part-start image-data annotation finish`),
  kind: wordsIn('function custom url base64 text file-id refusal thought summary'),
  mode: wordsIn('auto none required tool allowed hosted'),
  role: wordsIn('user assistant system developer tool'),
  status: wordsIn('in_progress completed incomplete failed searching generating interpreting success error'),
  encoding: wordsIn('float base64'),
  nativeReason:
    wordsIn(`stop length end_turn stop_sequence max_tokens model_length tool_calls function_call tool_use
    content_filter content_filtered safety refusal pause_turn compaction completed incomplete max_output_tokens
    model_context_window_exceeded guardrail_intervened STOP MAX_TOKENS CONTINUATION SAFETY RECITATION LANGUAGE BLOCKLIST
    PROHIBITED_CONTENT SPII MODEL_ARMOR IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION OTHER`),
  serviceTier: wordsIn('auto default standard priority flex batch scale fast on_demand ultrafast'),
  reason: wordsIn('stop length tool-calls content-filter refusal pause compaction budget'),
};

function wordsIn(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const SERVER_TOOL_TYPE = /^[a-z][a-z-]{0,31}:(\w+)$/;

export function isServerToolType(type: string): boolean {
  return SERVER_TOOLS.has(SERVER_TOOL_TYPE.exec(type)?.[1] ?? '');
}

/** Read when the first guarded request needs them: gateways without guardrails never do. */
let ofFormats: SchemaWords | undefined;

function wordsOfFormats(): SchemaWords {
  // The vendor is in no word that is listed besides the types of server tools, which are scanned.
  ofFormats ??= new SchemaWords([
    ...REQUEST_FORMATS.map(({ inbound }) => inbound.requestSchema('signalbox')),
    ...[...SERVER_TOOLS.values()].map(({ parameters }) => parameters),
  ]);
  return ofFormats;
}

export function isDocumentedName(name: string): boolean {
  if (Object.hasOwn(DIALECTS, name)) return true;
  return Object.hasOwn(OWN_NAMES, name) || ANSWER_NAMES.has(name) || wordsOfFormats().hasName(name);
}

export function isDocumentedValue(member: string, text: string): boolean {
  if (member === 'type' && (TOOL_STEPS.test(text) || isServerToolType(text))) return true;
  if (member === 'dialect') return Object.hasOwn(DIALECTS, text);
  return OWN_VALUES[member]?.has(text) === true || wordsOfFormats().hasValue(member, text);
}
