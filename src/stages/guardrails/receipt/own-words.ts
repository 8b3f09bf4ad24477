import { NO_RESULT } from '../../../dialects/shared/pairing/pair-calls.ts';
import { BETA_MEMBER } from '../../../dialects/shared/requests/betas.ts';
import { JSON_INSTRUCTION } from '../../../dialects/shared/requests/output-format.ts';

/**
 * Texts that dialects write into bodies themselves. `test/laws/guardrail-receipt.test.ts` renders every feature of
 * requests in every dialect, and fails for words that are missing here.
 */

/** Members that the gateway fills in itself: hashes of end users, versions, betas. */
export const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'user',
  'user_id',
  'safety_identifier',
  'anthropic_version',
  BETA_MEMBER,
  'task_type',
  'taskType',
  'input_type',
  'encoding_format',
  'embedding_types',
]);

/** Words of protocols, and texts that stand for something missing. */
export const OWN_WORDS: ReadonlySet<string> = new Set([
  ...`auto none required any tool function custom text json_object json_schema ephemeral enabled disabled adaptive
  default flex priority standard fast standard_only minimal low medium high xhigh max detailed concise summarized
  omitted user assistant model object string number integer boolean array null float base64 end AUTO ANY NONE VALIDATED
  TEXT IMAGE AUDIO MINIMAL LOW MEDIUM HIGH application/json application/pdf input document <system> </system>
  reasoning.encrypted_content message.output_text.logprobs /stop_sequence
  skip_thought_signature_validator png jpeg gif webp pdf txt csv html md mp3 wav flac ogg mp4 webm`.split(
    /\s+/,
  ),
  NO_RESULT,
  JSON_INSTRUCTION,
  'See the document.',
  'No result was given.',
  'The tool failed.',
  'No longer available: do not call it.',
  '[Result of a tool call]',
]);

/** Sentences around texts of the caller, which are the groups, and names, which are those named `name`. */
export const OWN_SENTENCES: readonly RegExp[] = [
  /^Output of tool call [\w.:/+=#$-]*:$/,
  /^\[(?:\w+) at ([^\n]*)\]$/,
  /^The tool's whole input\.(?: Must match: (.*))?$/s,
  /^\[Called the tool (?<name>[\w-]+) with (.*)\]$/s,
  /^The tool (?<name>[\w-]+) can be called now\.$/,
];

/** Members that hold names: dialects replace characters in them, shorten, join and number them. */
export const NAME_MEMBERS: ReadonlySet<string> = new Set(['name', 'filename', 'allowedFunctionNames']);

/** A file that has no name. */
export const UNNAMED_FILE = /^file\.\w+$/;
