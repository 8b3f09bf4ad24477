import { FREE } from '../../catalog/prices/bill.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { NOTHING } from '../../ir/amount.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Item } from '../../ir/items.ts';
import type { ChargeKind, PaidCharge } from '../../ir/leg.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import { type ToolResultBlock, textBlock } from '../../ir/tool-result-block.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { passedText } from '../../ir/wire-watch.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import { unrecordable } from '../admission/admit.ts';
import { refused } from '../admission/refused.ts';
import type { GenerationReservation } from '../admission/reservation.ts';
import { isSpent } from '../admission/reservation-size.ts';
import { withOwnWork } from '../record/account.ts';
import { acceptedRow } from '../record/generation-row.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import { stagesFor } from './accepted-generation.ts';
import type { GatewayDependencies } from './gateway-dependencies.ts';
import { settleRefused, settleUnserved, unservedGeneration, unservedOf } from './unserved.ts';

/** A call of a tool that no model has made. */
export interface DirectToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** True if it may run although the limits of its caller leave nothing. */
  readonly costsNothing?: true | undefined;
  /** Rejects with the signal's reason, or with 402. */
  run(given: JsonObject, run: DirectToolRun): Promise<DirectToolResult>;
}

export interface DirectToolRun {
  readonly generationId: string;
  readonly signal: AbortSignal;
  /** The call as a request without a model. */
  readonly request: GenerationRequest;
  note(entry: PipelineEntry): void;
  charge(kind: ChargeKind, nanos: Nanos): Promise<PaidCharge | undefined>;
}

export interface DirectToolResult {
  readonly blocks: readonly ToolResultBlock[];
  /** The result as an object, for clients that take one. */
  readonly structured?: JsonObject | undefined;
  readonly isError: boolean;
  /** False if the tool was not run, because its arguments are not valid. Absent = it was. */
  readonly isRun?: boolean;
}

const CALL_ID = 'call';

/**
 * Runs a tool as a generation without a model: under the caller's guardrails, which scan arguments and result, and
 * with a record. It costs what the tool charges. Rejects with a GatewayError.
 */
export async function runToolGeneration(
  input: GenerationInput,
  call: DirectToolCall,
  dependencies: GatewayDependencies,
): Promise<DirectToolResult> {
  const settings = dependencies.settings(input.caller);
  const asked = requestOf(input, settings.vendor);
  const guards = dependencies.stages.filter(({ guardsRequest }) => guardsRequest === true);
  const { stages, reservation } = stagesFor(input, asked, settings, { ...dependencies, stages: guards });
  const unserved = (request: GenerationRequest) =>
    unservedOf({ input, request, reservation, stages, settings });
  const row = () => acceptedRow(unservedGeneration(unserved(asked), call.name));
  const scanned = async (request: GenerationRequest) => {
    const outcome = await stages.before(request);
    return 'request' in outcome ? outcome.request : request;
  };
  try {
    const passed = await scanned(asked);
    const given = inputIn(passed, 'arguments') ?? call.arguments;
    passed.watch?.sent({ arguments: JSON.stringify(given) });
    if (call.costsNothing !== true) await requireMoney(input, reservation, row);
    const startedAtMs = dependencies.clock.now();
    const result = await call.run(given, {
      generationId: input.generationId,
      signal: input.signal,
      request: asked,
      note: (entry) => stages.note(entry),
      charge: (kind, nanos) => reservation.charge(row, kind, nanos),
    });
    const { isError, isRun = true } = result;
    const text = textOf(result);
    reservation.noteToolCalls([
      {
        name: call.name,
        leg: 0,
        startedAtMs,
        durationMs: Math.max(0, dependencies.clock.now() - startedAtMs),
        end: isError ? 'error' : 'ok',
        isRun,
        nanos: reservation.charged.creditNanos,
        inputCharacters: JSON.stringify(given).length,
        outputCharacters: text.length,
        ...(isError && { error: await passedText(text, passed.watch) }),
      },
    ]);
    const answered = await scanned({ ...asked, items: itemsOf(call.name, result) });
    const passedResult = resultIn(answered, result);
    const shown = textOf(passedResult);
    answered.watch?.sent({ result: shown, structured: passedResult.structured ?? null });
    answered.watch?.ended();
    const bill = { ...FREE, totalNanos: reservation.charged.creditNanos };
    const items: Item[] = [
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: shown }], status: 'completed' },
    ];
    const finish = { type: 'finish', reason: 'stop' } as const;
    await settleUnserved(
      unservedGeneration(unserved(asked), asked.models[0] ?? call.name),
      {
        usage: withOwnWork(NO_USAGE, { toolCalls: reservation.toolCalls, notes: [] }),
        bill,
        outcome: 'finished',
        result: { items, finish },
      },
      reservation,
      dependencies,
    );
    return passedResult;
  } catch (error) {
    if (error instanceof LedgerUnavailable) throw unrecordable(error);
    await settleRefused(unserved(asked), error, dependencies).catch((late: unknown) => {
      if (!(late instanceof LedgerUnavailable)) throw late;
    });
    throw error;
  }
}

/**
 * Rejects with 402 or 403 if a limit, a budget or the balance of the caller leaves nothing: most tools cost the
 * operator something even if they have no price.
 */
async function requireMoney(
  { caller: { scopes } }: GenerationInput,
  reservation: GenerationReservation,
  row: () => JsonObject,
): Promise<void> {
  const outcome = await reservation.hold(row, ({ affordable }) => (isSpent(affordable) ? null : NOTHING));
  if (outcome.ok) return;
  const nothingAsked = { requestedTokens: 0, affordableTokens: 0, filledContext: undefined };
  throw refused(outcome.refusal, { scopes, ...nothingAsked });
}

export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly presentation?: JsonObject | undefined;
}

/**
 * The tools as the caller's guardrails let them pass, which scan them as those of a request. A tool whose name they
 * change could not be called, and is left out. Rejects with a GatewayError if they block one.
 */
export async function passedTools<T extends ShownTool>(
  input: GenerationInput,
  tools: readonly T[],
  dependencies: GatewayDependencies,
): Promise<readonly T[]> {
  if (input.caller.guardrails.length === 0) return tools;
  const settings = dependencies.settings(input.caller);
  const asked = { ...requestOf(input, settings.vendor), items: [], tools: tools.flatMap(functionsOf) };
  const guards = dependencies.stages.filter(({ guardsRequest }) => guardsRequest === true);
  const { stages } = stagesFor(input, asked, settings, { ...dependencies, stages: guards });
  const outcome = await stages.before(asked);
  const passed = 'request' in outcome ? outcome.request : asked;
  const functions = passed.tools.values();
  const shown = tools.flatMap((tool): T[] => {
    const [given, ...others] = functionsOf(tool).map(() => functions.next().value as FunctionTool);
    if (given?.name !== tool.name) return [];
    const { description = '', parameters: inputSchema = {} } = given;
    const results = others.map(({ parameters }, index) => [membersOf(tool)[index]?.[0], parameters]);
    return [{ ...tool, description, inputSchema, ...Object.fromEntries(results) }];
  });
  passed.watch?.sent({ tools: shown.map(({ name, description }) => ({ name, description })) });
  passed.watch?.ended();
  return shown;
}

type FunctionTool = Extract<Tool, { type: 'function' }>;

/** A tool as functions of a request: one with its arguments, and one for each further object that it has. */
function functionsOf(tool: ShownTool): FunctionTool[] {
  const { name, description, inputSchema } = tool;
  const given: FunctionTool = { type: 'function', name, description, parameters: inputSchema, strict: false };
  return [given, ...membersOf(tool).map(([, parameters]) => ({ ...given, parameters }))];
}

/** The objects of a tool besides its arguments, by their names. */
function membersOf({ outputSchema, presentation }: ShownTool): [string, JsonObject][] {
  return Object.entries({ outputSchema, presentation }).filter(
    (entry): entry is [string, JsonObject] => entry[1] !== undefined,
  );
}

/** The body of a list of tools, in the responses format. */
export const TOOL_LIST_BODY: JsonObject = { model: 'tools', input: 'list' };

/** The body of a generation that is one call, in the responses format. */
export function directCallBody(name: string, given: JsonObject): JsonObject {
  return {
    model: `tools/${name}`,
    input: [{ type: 'function_call', call_id: CALL_ID, name, arguments: JSON.stringify(given) }],
  };
}

function requestOf({ body, format, sessionId }: GenerationInput, vendor: string): GenerationRequest {
  const request = DIALECTS[format].inbound.parseRequest(body, { vendor });
  return sessionId === undefined ? request : { ...request, wishes: { ...request.wishes, sessionId } };
}

/** The text of a result: that of its blocks, or else its structured content as JSON. */
function textOf({ blocks, structured }: DirectToolResult): string {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (texts.length > 0 || structured === undefined) return texts.join('\n');
  return JSON.stringify(structured);
}

/** The items in which guardrails scan a result: structured content as the input of a call, which is scanned by text. */
function itemsOf(name: string, { blocks, structured, isError }: DirectToolResult): Item[] {
  const result: Item = {
    type: 'tool-result',
    kind: 'function',
    callId: CALL_ID,
    content: blocks.filter((block) => block.type === 'text'),
    ...(isError && { isError }),
  };
  if (structured === undefined) return [result];
  const input = JSON.stringify(structured);
  return [{ type: 'tool-call', kind: 'function', callId: CALL_ID, name, input }, result];
}

/** The result after guardrails have redacted it. */
function resultIn(answered: GenerationRequest, result: DirectToolResult): DirectToolResult {
  const item = answered.items.find((each) => each.type === 'tool-result');
  const texts = item?.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) ?? [];
  const left = texts.values();
  const blocks = result.blocks.map((block) =>
    block.type === 'text' ? textBlock(left.next().value ?? '') : block,
  );
  return { ...result, blocks, structured: inputIn(answered, 'result') };
}

/** The input of the call after guardrails have redacted it; undefined if there is none. */
function inputIn({ items }: GenerationRequest, of: 'arguments' | 'result'): JsonObject | undefined {
  const call = items.find((item) => item.type === 'tool-call');
  if (call === undefined) return undefined;
  try {
    return JSON.parse(call.input) as JsonObject;
  } catch {
    throw new GatewayError('permission', `a guardrail has changed the ${of}, which is no JSON any more`);
  }
}
