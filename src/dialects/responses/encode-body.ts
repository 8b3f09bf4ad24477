import type { GatewayError } from '../../ir/errors.ts';
import type { Finish, Settled } from '../../ir/events.ts';
import type { Item, ItemStatus, OutputItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import { type Bill, NO_USAGE, type Usage } from '../../ir/usage.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { compact, define, objectAt, objectsAt, withoutNulls } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { MAXIMUM_CONTEXT_LENGTH, messageOf } from '../shared/answers/overflow-words.ts';
import { withSearchCalls } from './encode-calls.ts';
import { keptItem, patchOutputItem, refusalText, renderOutputItem, showsRefusal } from './encode-content.ts';
import { renderFinish } from './finish.ts';
import { ItemIds, responseId } from './ids.ts';
import { shellCalled, shellIdPrefix } from './local-shells.ts';
import { parseItem } from './parse-content.ts';
import { renderUsage } from './usage.ts';

/** The response object: in the first and last events of a stream, and as the whole non-streaming answer. */

// --- The whole body -------------------------------------------------------------------------------------------------

export function encodeBody(result: Result, context: ReplyContext): JsonObject {
  const finish: Finish = result.finish ?? { type: 'finish', reason: 'stop' };
  const { usage, settled, relayed } = result;
  const output = relayed === undefined ? outputOf(result, finish, context) : relayedOutput(relayed, context);
  if (result.failure !== undefined)
    return failedSnapshot(context, result.failure, { output, usage, settled });
  return finishedSnapshot(context, finish, { output, usage, settled, upstream: relayed });
}

// --- Relay ----------------------------------------------------------------------------------------------------------

function relayedOutput(body: JsonObject, context: ReplyContext): JsonObject[] {
  const ids = new ItemIds(context.generationId);
  const output = objectsAt(body, 'output').map((item, position) =>
    patchOutputItem(item, ids.idFor(parseItem(item), position), 'completed', context.request),
  );
  if (context.keepItem !== undefined) output.forEach(context.keepItem);
  return output;
}

/**
 * The gateway's own object, with members of the upstream's that the gateway does not write. Settings repeat the
 * request, not the upstream's version of it.
 */
export function overlay(context: ReplyContext, upstream: JsonObject | undefined): JsonObject {
  const own = openSnapshot(context);
  if (upstream === undefined) return own;
  const theirs = withoutNulls(upstream);
  for (const name of ['error_type', 'prompt_cache_options', `${context.vendor}_metadata`])
    delete theirs[name];
  return { ...own, ...theirs, ...own };
}

// --- Content --------------------------------------------------------------------------------------------------------

function outputOf(result: Result, finish: Finish, context: ReplyContext): JsonObject[] {
  const ids = new ItemIds(context.generationId);
  const given = withSearchCalls(result.items);
  const items = showsRefusal(given) || finish.reason !== 'refusal' ? given : [...given, refusalOf(finish)];
  return items.flatMap((item, position) => {
    const shell = item.type === 'tool-call' ? shellCalled(item, context.request.tools) : undefined;
    const id = ids.idFor(item, position, shell && shellIdPrefix(shell));
    const rendered = renderOutputItem(item, id, endStatusOf(item), context);
    if (rendered === undefined) return [];
    context.keepItem?.(keptItem(rendered, item));
    return [rendered];
  });
}

/** The status of an item at the end of the answer. Calls of server tools have one of their own. */
function endStatusOf(item: OutputItem): ItemStatus {
  const status = item.type !== 'server-call' && 'status' in item ? item.status : undefined;
  return status === undefined || status === 'in_progress' ? 'completed' : status;
}

function refusalOf(finish: Finish): Item {
  return {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'refusal', refusal: refusalText(finish) }],
    status: 'completed',
  };
}

// --- Members that streams and whole bodies share --------------------------------------------------------------------

/** The object before any output, with every field that strict clients require. */
export function openSnapshot(context: ReplyContext): JsonObject {
  return {
    id: responseId(context.generationId),
    object: 'response',
    created_at: Math.floor(context.createdAtMs / 1000),
    completed_at: null,
    status: 'in_progress',
    model: context.model,
    output: [],
    error: null,
    incomplete_details: null,
    usage: null,
    ...echoOf(context.request),
    service_tier: context.serviceTier,
  };
}

/**
 * Settings of the request as the response object repeats them. Absent ones are null, or the default if the format
 * requires a value.
 */
function echoOf(request: GenerationRequest): JsonObject {
  const { body, sampling } = request;
  const echo: JsonObject = {
    background: false,
    store: false,
    previous_response_id: null,
    instructions: body.instructions ?? null,
    max_output_tokens: request.requestedOutputTokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallelToolCalls ?? true,
    temperature: sampling.temperature ?? 1,
    top_p: sampling.topP ?? 1,
    presence_penalty: sampling.presencePenalty ?? 0,
    frequency_penalty: sampling.frequencyPenalty ?? 0,
    top_logprobs: sampling.topLogprobs ?? 0,
    tool_choice: body.tool_choice ?? 'auto',
    tools: objectsAt(body, 'tools').map(echoTool),
    text: echoText(objectAt(body, 'text')),
    reasoning: echoReasoning(objectAt(body, 'reasoning')),
    truncation: request.truncation ?? body.truncation ?? 'disabled',
    prompt_cache_key: request.promptCacheKey ?? null,
    safety_identifier: request.safetyIdentifier ?? null,
    user: request.user ?? null,
  };
  if (body.prompt !== undefined && body.prompt !== null) echo.prompt = body.prompt;
  if (request.promptCacheOptions !== undefined) echo.prompt_cache_options = request.promptCacheOptions;
  return echo;
}

function echoTool(tool: JsonObject): JsonObject {
  if (tool.type === 'mcp') return withoutSecrets(tool);
  if (tool.type !== 'function') return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

/** Credentials for an MCP server are not shown, not even to the caller who sent them: replies are logged. */
function withoutSecrets({ authorization: _, headers: __, ...shown }: JsonObject): JsonObject {
  return shown;
}

function echoText(text: JsonObject | undefined): JsonObject {
  return { format: { type: 'text' }, ...withoutNulls(text ?? {}) };
}

function echoReasoning(reasoning: JsonObject | undefined): Json {
  return reasoning === undefined ? null : { effort: null, summary: null, ...reasoning };
}

// --- The end --------------------------------------------------------------------------------------------------------

export interface Ending {
  readonly output: readonly JsonObject[];
  /** The last usage that the upstream reported, if settlement adds none. */
  readonly usage?: Usage | undefined;
  readonly settled?: Settled | undefined;
  /** Relay lane: the upstream's own final object. */
  readonly upstream?: JsonObject | undefined;
}

/** Tiers that the format names; `auto` is only asked for. */
const SERVED_TIERS: ReadonlySet<string> = new Set([
  'default',
  'flex',
  'priority',
  'scale',
  'fast',
  'ultrafast',
]);

export function finishedSnapshot(context: ReplyContext, finish: Finish, ending: Ending): JsonObject {
  const { status, incomplete_details } = renderFinish(finish);
  // Assigned: an object literal with a repeated member is many times slower.
  return Object.assign(
    baseOf(context, ending),
    {
      status,
      completed_at: status === 'completed' ? Math.floor(context.now() / 1000) : null,
      incomplete_details: incomplete_details && (upstreamReason(finish, ending) ?? incomplete_details),
      error: null,
      service_tier: tierServed(finish, ending) ?? context.serviceTier,
    },
    endFields(context, ending),
  );
}

/** The tier that the upstream names: one of this format may have more of them than are known here. */
function tierServed({ serviceTier }: Finish, { upstream }: Ending): string | undefined {
  if (serviceTier === undefined || serviceTier === 'auto') return undefined;
  return upstream !== undefined || SERVED_TIERS.has(serviceTier) ? serviceTier : undefined;
}

/** Why the upstream ended a relayed answer, in its own words, of which there are more than ours. */
function upstreamReason({ reason }: Finish, { upstream }: Ending): JsonObject | undefined {
  return reason === 'budget' || upstream === undefined ? undefined : objectAt(upstream, 'incomplete_details');
}

/** The object of a failed answer: its output so far, and the error. */
export function failedSnapshot(context: ReplyContext, error: GatewayError, ending: Ending): JsonObject {
  return {
    ...baseOf(context, ending),
    status: 'failed',
    error: { code: error.row.responsesCode, message: messageOf(error, MAXIMUM_CONTEXT_LENGTH) },
    error_type: error.row.errorType,
    ...endFields(context, settledBy(error, ending)),
  };
}

/** The object of an answer that outgrew the model's context: incomplete, not failed. */
export function cutSnapshot(context: ReplyContext, error: GatewayError, ending: Ending): JsonObject {
  return {
    ...baseOf(context, ending),
    ...renderFinish({ reason: 'length' }),
    ...endFields(context, settledBy(error, ending)),
  };
}

const NO_BILL: Bill = { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false };

/** A failure before any endpoint answered is not settled: it cost nothing, and the error has the routing metadata. */
function settledBy(error: GatewayError, ending: Ending): Ending {
  const usage = ending.settled?.usage ?? ending.usage ?? NO_USAGE;
  const bill = ending.settled?.bill ?? NO_BILL;
  const metadata = error.kind === 'server' ? undefined : (ending.settled?.metadata ?? error.routing);
  return { ...ending, settled: compact({ usage, bill, metadata }) };
}

/** The open object, with members that only the upstream's object has, if there is one. */
function baseOf(context: ReplyContext, ending: Ending): JsonObject {
  return overlay(context, ending.upstream);
}

function endFields(context: ReplyContext, ending: Ending): JsonObject {
  const { settled } = ending;
  const usage = settled?.usage ?? ending.usage ?? NO_USAGE;
  const fields: JsonObject = {
    output: [...ending.output],
    usage: withUpstreamDetails(renderUsage(usage, settled?.bill), ending.upstream),
  };
  const metadata = settled?.metadata as JsonObject | undefined;
  if (metadata !== undefined) define(fields, `${context.vendor}_metadata`, metadata);
  return fields;
}

/** Adds counts that only the upstream has; not its prices. */
function withUpstreamDetails(usage: JsonObject, upstream: JsonObject | undefined): JsonObject {
  const theirs = upstream && objectAt(upstream, 'usage');
  if (theirs === undefined) return usage;
  const merged = { ...usage };
  for (const name of ['input_tokens_details', 'output_tokens_details']) {
    if (isJsonObject(theirs[name])) merged[name] = { ...theirs[name], ...objectAt(usage, name) };
  }
  return merged;
}
