import type { Format } from '../../../src/ir/items.ts';
import { REFUSED_BY_TYPE } from './fate.ts';
import { isAnswer, type Outcome } from './outcome.ts';

/** Why things are refused or lost, so that nothing else may be. */
export interface Expected {
  /** A sentence for the page. */
  readonly reason: string;
  readonly fate: 'refused' | 'lost';
  /** Names of probes. */
  readonly names: RegExp;
  /** What a refusal says, where names alone would allow too much. */
  readonly refusal?: RegExp;
  /** Absent: all. */
  readonly formats?: readonly Format[];
  /** Dialects, or slugs of providers. Absent: all. */
  readonly upstreams?: readonly string[];
  /** What it is part of was rewritten, and the report says so. */
  readonly isRewritten?: true;
  /** Absent: requests, those of the router's types included. */
  readonly isAnswer?: true;
}

const REQUESTS: readonly Expected[] = [
  {
    reason:
      'It means state that its owner keeps. Nothing is stored here: callers send the whole conversation.',
    fate: 'refused',
    names: /^(thread : |continue\.|previous_response_id$|conversation(\.id)?$|store$|background$)/,
  },
  {
    reason: 'It refers to an item of an earlier answer, and in the test there was none.',
    fate: 'refused',
    names:
      /^(input : (ResponseInputItem\.ItemReference|item_reference)|input\.(id|type = .*)|item_reference\.id)$/,
    refusal: /names no output item|role: is required/,
  },
  {
    reason: 'It names a prompt template of the gateway, and the test has declared none.',
    fate: 'refused',
    names: /^prompt(\.|$)/,
    refusal: /there is no template/,
  },
  {
    reason: 'It names a file that was uploaded to the gateway, and the test has uploaded none.',
    fate: 'refused',
    names: /(file_id|(document|image)\.source : file)$/,
    refusal: /there is no such file/,
  },
  {
    reason: 'Ids of files are those of the gateway, and it has no place for their content here.',
    fate: 'refused',
    names:
      /^(user\.content : container_upload|container_upload\.|auto\.file_ids$|image_generation\.input_image_mask\.file_id$)/,
    refusal: /names a stored file/,
  },
  {
    reason: 'No other upstream checks tool calls for safety: the client has to check by itself.',
    fate: 'refused',
    names: /^safeguards$/,
    refusal: /send the request without it/,
  },
  {
    reason: 'A condition on providers that those of the test do not meet.',
    fate: 'refused',
    names: /^provider\./,
    refusal: /No allowed providers/,
  },
  {
    reason: 'It is what happens without it.',
    fate: 'lost',
    names:
      /^(tool_choice( =| :) auto|speed = standard|service_tier = (auto|default|standard_only)|ephemeral\.ttl = 5m|tools\.type = custom|reasoning\.(context = auto|mode = standard|summary = auto)|truncation = disabled|text\.format : text|response_format : text|custom\.(custom\.)?format : text|modalities = text|n|parallel_tool_calls|input_image\.detail = auto|image_url\.image_url\.detail = auto|store = false|image_generation_call\.output_format = png)$/,
  },
  {
    reason: 'Other dialects show thoughts or do not: all words but `omitted` mean that they do.',
    fate: 'lost',
    names: /^(adaptive|enabled)\.display = (summarized|updates)$/,
  },
  {
    reason: 'The model thinks by itself, and how much it thinks is left to it.',
    fate: 'lost',
    names: /^thinking : adaptive$/,
    upstreams: ['chat'],
  },
  {
    reason:
      'Servers of the dialect take audio. The API of OpenAI does not, by its types: none of its models there lists it.',
    fate: 'refused',
    names: /^user\.content : input_audio$/,
    refusal: /type is not "input_text"/,
    upstreams: ['responses'],
  },
  {
    reason: 'The gateway keeps thoughts from the caller itself.',
    fate: 'lost',
    names: /^(adaptive|enabled)\.display = omitted$/,
  },
  {
    reason: 'An empty object says nothing.',
    fate: 'lost',
    names:
      /^(metadata|output_config|text|reasoning|stream_options|prompt_cache_options|(document|search_result)\.citations)$/,
  },
  {
    reason: 'It is about the stream that the caller gets, and the gateway writes that itself.',
    fate: 'lost',
    names: /^stream_options\./,
  },
  {
    reason: 'Sealed reasoning always comes back from dialects that have it.',
    fate: 'lost',
    names: /^include = reasoning\.encrypted_content$/,
  },
  {
    reason: 'Ids and states of finished items mean something only to the API that gave them.',
    fate: 'lost',
    names:
      /^(message|reasoning|agent_message|additional_tools|[a-z_]+_call(_output)?|tool_search_output)\.(id|status = .*)$/,
  },
  {
    reason: 'The dialect has no field for the end user, whose id never stands in a report.',
    fate: 'lost',
    names: /^(user|safety_identifier|metadata\.user_id)$/,
    upstreams: ['gemini', 'bedrock', 'mistral'],
  },
  {
    reason: "It selects a profile or a workspace of the account at Anthropic, which is the operator's.",
    fate: 'lost',
    names: /^header anthropic-(user-profile|workspace)-id$/,
  },
  {
    reason: 'Other dialects have one list of tools, whoever added them.',
    fate: 'lost',
    names: /^additional_tools\.role = /,
  },
  {
    reason: 'It says who made a thought and in which order: by that the gateway decides who gets its seal.',
    fate: 'lost',
    names: /^reasoning\.((text|summary|encrypted|server_tool_call)\.)?(format = .*|id|index|signature)$/,
  },
  {
    reason: 'A call that another router ran by itself: its result is part of the answer that the model gave.',
    fate: 'lost',
    names: /^(assistant\.reasoning_details : reasoning\.server_tool_call$|reasoning\.server_tool_call\.)/,
  },
  {
    reason: 'Gemini pairs results with calls by name and order; the gateway finds both by the id.',
    fate: 'lost',
    names:
      /^(tool_result\.tool_use_id|tool_use\.id|[a-z_]+_call(_output)?\.call_id|program(_output)?\.call_id|tool\.tool_call_id|(function|custom)\.id)$/,
    upstreams: ['gemini'],
  },
  {
    reason: 'Bedrock holds every answer to its schema.',
    fate: 'lost',
    names: /^json_schema\.(json_schema\.)?strict$/,
    upstreams: ['bedrock'],
  },
  {
    reason:
      'The gateway connects to the MCP server itself, and offers the tools that it lists; in the test, none.',
    fate: 'lost',
    names: /^(mcp_servers : url|url\.|(additional_tools\.)?tools : mcp$|mcp\.|tool_choice\.type = mcp$)/,
  },
  {
    reason: 'The gateway runs the tool itself for upstreams that have none, and keeps to its settings.',
    fate: 'lost',
    names: /^(web_fetch_\d+|advisor_\d+)\./,
  },
  {
    reason:
      'It is part of a thing that arrives as something else, which has no place for it. The report says so of the thing.',
    fate: 'lost',
    names: /^/,
    isRewritten: true,
  },
  {
    reason: 'A guardrail reads files before they leave, and the address of the test leads nowhere.',
    fate: 'refused',
    names: /^(input_file\.file_url|document\.source : url)$/,
    refusal: /cannot be fetched/,
  },
  {
    reason: 'The gateway acts on it itself.',
    fate: 'lost',
    names:
      /^(fallbacks|fallbacks\.model|provider\b.*|trace\b.*|session_id|debug\b.*|models|approximate\..*)$/,
  },
];

const ANSWERS: readonly Expected[] = [
  {
    reason: 'An item that an upstream writes may declare tools for the caller to run, and no others.',
    fate: 'lost',
    names: /^additional_tools\.tools : (file_search|computer_use_preview|mcp|code_interpreter)$/,
    isAnswer: true,
  },
  {
    reason:
      'The gateway writes these itself: its ids and times, its names of models, the tier that served, its counts.',
    fate: 'lost',
    names:
      /^(chunk\.)?(id|model|created|created_at|completed_at|service_tier = auto|usage\.(total_tokens|prompt_tokens_details|completion_tokens_details))$/,
    isAnswer: true,
  },
  {
    reason: 'The gateway writes the events that begin an answer itself.',
    fate: 'lost',
    names: /^event response\.queued$/,
    isAnswer: true,
  },
  {
    reason: 'An answer that is complete has no error, and events are numbered by the gateway.',
    fate: 'lost',
    names: /^(error\b.*|response\.queued\.sequence_number)$/,
    isAnswer: true,
  },
  {
    reason: 'A call is shown once it has a name.',
    fate: 'lost',
    names: /^chunk\.choices\.delta\.tool_calls\.(index|function|function\.arguments|custom\.input)$/,
    isAnswer: true,
  },
  {
    reason: 'Answers have one choice, with the index 0.',
    fate: 'lost',
    names: /^chunk\.choices(\.index)?$/,
    isAnswer: true,
  },
  {
    reason: 'An answer without a choice of index 0 is no answer.',
    fate: 'refused',
    names: /^(choices(\.index)?|candidates\.index)$/,
    isAnswer: true,
  },
  {
    reason:
      'The upstream says that it failed: another endpoint is asked, and in the end the caller gets an error.',
    fate: 'refused',
    names:
      /^(error\b.*|status = .*|stopReason = malformed_.*|candidates\.finishReason = (MALFORMED_.*|TOO_MANY_TOOL_CALLS|UNEXPECTED_TOOL_CALL))$/,
    isAnswer: true,
  },
];

export const EXPECTED: readonly Expected[] = [...REQUESTS, ...ANSWERS];

/** The first rule that an outcome falls under. */
export function expectedOf(outcome: Outcome): Expected | undefined {
  const name = outcome.sharedWith ?? outcome.name;
  return EXPECTED.find(
    ({ names, fate, refusal, formats, upstreams, isRewritten, isAnswer: forAnswers = false }) =>
      names.test(name) &&
      forAnswers === isAnswer(outcome.part) &&
      (isRewritten === undefined || isRewritten === outcome.isRewritten) &&
      fate === outcome.fate &&
      (refusal === undefined ? !isByType(outcome) : refusal.test(outcome.refusal ?? '')) &&
      (formats === undefined || formats.includes(outcome.format)) &&
      (upstreams === undefined ||
        upstreams.some((each) => each === outcome.upstream.dialect || each === outcome.upstream.provider)),
  );
}

/** What its published types refuse needs a rule that says so. */
function isByType({ refusal = '' }: Outcome): boolean {
  return refusal.startsWith(REFUSED_BY_TYPE);
}

/** What is refused or lost without a reason, one line for each. */
export function unexpectedIn(outcomes: readonly Outcome[]): string[] {
  const unexpected = outcomes.filter(
    (outcome) => isUnwanted(outcome) && outcome.sharedWith === undefined && expectedOf(outcome) === undefined,
  );
  return [...new Set(unexpected.map(lineOf))];
}

function lineOf({ part, format, upstream, fate, name, refusal }: Outcome): string {
  return `${part}: ${format} and ${upstream.name}: ${name}: ${fate}${refusal === undefined ? '' : `: ${refusal}`}`;
}

/** True for fates that need a reason. */
export function isUnwanted({ fate }: Outcome): boolean {
  return fate === 'refused' || fate === 'lost';
}
