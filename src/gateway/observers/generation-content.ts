import { DIALECTS } from '../../dialects/dialects.ts';
import type { GatewayError } from '../../ir/errors.ts';
import type { OutputItem, Part } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { ContentStore, GenerationContent } from '../../ports/content/content.ts';
import type { SpooledContents } from '../../ports/following/spooled-contents.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { mustKeepNothing } from '../../routing/rules/zero-retention.ts';
import { modelsOf } from '../plan/plan.ts';
import type { AttemptLog } from '../record/attempt-log.ts';
import type { Settlement } from '../record/settle.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import { isRedacted, sentPrompt } from './sent-prompt.ts';

export interface ContentKeeping {
  readonly store: Pick<ContentStore, 'put'>;
  /** For destinations and classifiers. */
  readonly spooled: Pick<SpooledContents, 'put'>;
  /** 0 <= number < 1, for the sampling that a workspace may request. */
  readonly random: () => number;
}

interface EndedGeneration {
  readonly input: GenerationInput;
  readonly request: GenerationRequest;
  readonly attemptLog: Pick<AttemptLog, 'plan' | 'notes'>;
}

/**
 * Stores the content of an ended generation if its workspace asks for that, and for those who read it after the answer
 * if there are any: these are not told what guardrails kept from the model. Does not wait.
 */
export function keepContent(
  { store, spooled, random }: ContentKeeping,
  { input, request, attemptLog }: EndedGeneration,
  settlement: Pick<Settlement, 'result' | 'error'>,
): void {
  const { caller } = input;
  const places = placesOf(caller, request, () => modelsOf(attemptLog.plan), random);
  if (places === undefined || !(places.isKept || places.isSpooled)) return;
  const stored = {
    generationId: input.generationId,
    accountId: caller.accountId,
    workspaceId: caller.workspaceId,
    content: contentOf(input, settlement),
  };
  if (places.isKept) store.put(stored);
  if (!places.isSpooled) return;
  const { content } = stored;
  const told = isRedacted(attemptLog.notes) ? { ...content, input: sentPrompt(request) } : content;
  // The answer is sent before.
  setImmediate(() => spooled.put({ ...stored, content: told }));
}

export interface ContentPlaces {
  /** The workspace asks for it, and the sample includes it. */
  readonly isKept: boolean;
  /** Something is told of it after the answer. */
  readonly isSpooled: boolean;
}

/**
 * Undefined if content goes nowhere, also because zero retention is demanded. A list of key numbers matches no key,
 * because keys have no numbers here: then nothing is kept.
 */
export function placesOf(
  caller: Pick<Caller, 'workspace' | 'guardrails'>,
  request: GenerationRequest,
  models: () => readonly string[],
  random: () => number,
): ContentPlaces | undefined {
  const { workspace } = caller;
  const mayBeKept = workspace.isObservabilityIoLoggingEnabled && workspace.ioLoggingApiKeyIds === null;
  if (!mayBeKept && !workspace.hasContentReaders) return undefined;
  if (mustKeepNothing(request, caller, models)) return undefined;
  return {
    isKept: mayBeKept && random() < workspace.ioLoggingSamplingRate,
    isSpooled: workspace.hasContentReaders,
  };
}

/** The content to keep. Of the request only the conversation and names of tools: not settings and credentials. */
export function contentOf(
  { format, body }: Pick<GenerationInput, 'format' | 'body'>,
  { result, error }: Pick<Settlement, 'result' | 'error'>,
): GenerationContent {
  const tools = toolNames(body);
  return {
    input: DIALECTS[format].facts.recordedInput(body),
    output: outputOf(result),
    error: error === undefined ? null : errorObject(error),
    ...(tools.length > 0 && { tools }),
  };
}

const MAX_TOOLS = 256;
const MAX_TOOL_NAME_CHARACTERS = 128;

/** Names of the tools of a body of any format; of those without one, the type. */
function toolNames(body: JsonObject): string[] {
  return objectsAt(body, 'tools')
    .slice(0, MAX_TOOLS)
    .flatMap((tool) => stringAt(objectAt(tool, 'function') ?? tool, 'name') ?? stringAt(tool, 'type') ?? [])
    .map((name) => boundedText(name, MAX_TOOL_NAME_CHARACTERS));
}

function outputOf({ items }: Result): GenerationContent['output'] {
  const calls = items.flatMap(callOf);
  return {
    completion: joined(
      items.flatMap((item) => (item.type === 'message' ? item.content.flatMap(wordsOf) : [])),
    ),
    reasoning: joined(items.flatMap(thoughtsOf)),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function wordsOf(part: Part): string[] {
  if (part.type === 'text') return [part.text];
  return part.type === 'refusal' ? [part.refusal] : [];
}

/** Raw reasoning text if it is known, else its summaries. */
function thoughtsOf(item: OutputItem): readonly string[] {
  if (item.type !== 'reasoning') return [];
  return item.text.length > 0 ? item.text : item.summary;
}

function callOf(item: OutputItem): JsonObject[] {
  if (item.type === 'tool-call') return [{ id: item.callId, name: item.name, arguments: item.input }];
  if (item.type !== 'server-call') return [];
  const { callId, tool, input, output = null } = item;
  return [{ id: callId, name: tool, arguments: input, output }];
}

function joined(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join('');
}

function errorObject({ status, message, metadata }: GatewayError): JsonObject {
  return {
    status,
    message,
    provider_name: stringAt(metadata, 'provider_name') ?? null,
    raw: stringAt(metadata, 'raw') ?? null,
    previous_errors: objectsAt(metadata, 'previous_errors').map((previous) => ({
      code: numberAt(previous, 'code') ?? null,
      message: stringAt(previous, 'message') ?? null,
      provider_name: stringAt(previous, 'provider') ?? null,
      raw: stringAt(previous, 'raw') ?? null,
    })),
  };
}
