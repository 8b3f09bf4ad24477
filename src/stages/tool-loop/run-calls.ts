import { GatewayError } from '../../ir/errors.ts';
import type { ToolCallItem } from '../../ir/items.ts';
import type { ToolCallEnd } from '../../ir/leg.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import type { ToldSpan } from '../../ir/trace.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { misfitText, schemaFault } from '../../kit/json-schema/schema-fault.ts';
import { quoted } from '../../kit/text/quoted.ts';
import type { Egress } from '../../net/egress/egress.ts';
import {
  type NestedCall,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
  toolFailure,
} from '../../tools/server-tool.ts';
import type { OfferedTool, OfferedTools } from './offered-tools.ts';

export interface RunningCall {
  readonly call: ToolCallItem;
  /** Undefined: no such tool was offered. */
  readonly offered: OfferedTool | undefined;
  /** Ends with `cancelled` if the caller has left or the deadline has passed. */
  readonly outcome: Promise<FinishedCall>;
}

export interface FinishedCall {
  readonly outcome: ToolOutcome;
  readonly end: ToolCallEnd;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly isRun: boolean;
  /** The span that its service was told of. */
  readonly spanId?: string;
}

/** What is known of a call when it begins. */
export type BegunMembers = Pick<FinishedCall, 'startedAtMs' | 'spanId'>;

/** Calls of one step that are run; the result of any other says that it was not. */
export const MAX_CALLS_PER_STEP = 64;

const TOO_MANY_CALLS = `not run: a step has at most ${MAX_CALLS_PER_STEP} calls`;

export const CALLS_AT_ONCE = 8;

/** Steps of validating the arguments of one call; what is beyond counts as valid. */
const MAX_SCHEMA_STEPS = 10_000;

const CANCELLED = 'the answer has ended';

/** The time is over that a tool may take. */
class ToolTimeout extends Error {}

interface ToolUse extends Pick<ToolCall, 'uses' | 'claimResults'> {
  /** Ends it: of the results that it claimed it has found so many. */
  end(found: number): void;
}

/** Uses of each tool in one generation, and the results that they have found or claimed. */
export class ToolUses {
  readonly #counts = new Map<OfferedTool, { uses: number; results: number }>();

  begin(offered: OfferedTool): ToolUse {
    const counts = this.#counts.get(offered) ?? { uses: 0, results: 0 };
    this.#counts.set(offered, counts);
    let claimed = 0;
    return {
      uses: counts.uses++,
      claimResults(wanted, most) {
        claimed = Math.max(0, Math.min(wanted, most - counts.results));
        counts.results += claimed;
        return claimed;
      },
      end(found) {
        counts.results -= Math.max(0, claimed - found);
        claimed = 0;
      },
    };
  }
}

/** What the calls of a step have in common of their contexts. */
export type StepContext = Omit<ToolContext, 'tell' | 'showStep' | 'leg'>;

/** What is done with the calls of one step while they run. */
export interface StepObserver {
  tell(index: number, text: string): void;
  showStep(index: number, step: string, members: JsonObject): void;
  /** Records a call that is run, when it begins. */
  began(index: number, offered: OfferedTool, members: BegunMembers): void;
  /** Runs a model call for a call. */
  nested(index: number, request: GenerationRequest, call: NestedCall): Promise<Result>;
  /** Records a call that has ended, before its outcome is known to the step. */
  ended(index: number, offered: OfferedTool | undefined, finished: FinishedCall): Promise<void>;
}

/** Begins the calls of one step, a few at a time. */
export function runCalls(
  calls: readonly ToolCallItem[],
  tools: OfferedTools,
  uses: ToolUses,
  context: StepContext,
  { tell, showStep, began, nested, ended }: StepObserver,
): readonly RunningCall[] {
  const ahead: Promise<unknown>[] = [];
  return calls.map((call, index) => {
    const offered = tools.named(call.name);
    const turn = ahead[index - CALLS_AT_ONCE];
    const outcome =
      index < MAX_CALLS_PER_STEP
        ? runInTurn(
            turn,
            call,
            offered ?? missingTool(call.name, tools),
            uses,
            {
              ...context,
              leg: (request, asked) => nested(index, request, asked),
              tell: (text) => tell(index, text),
              showStep: (step, members) => showStep(index, step, members),
            },
            (tool, members) => began(index, tool, members),
          )
        : Promise.resolve(notRun(TOO_MANY_CALLS, context));
    const recorded = outcome.then(async (finished) => {
      await ended(index, offered, finished);
      return finished;
    });
    // Prevents an unhandled rejection; the loop awaits each outcome in order.
    recorded.catch(() => {});
    ahead.push(outcome);
    return { call, offered, outcome: recorded };
  });
}

function missingTool(name: string, tools: OfferedTools): string {
  return tools.isForbidden(name)
    ? `the tool ${quoted(name)} may not be called in this answer`
    : `there is no tool ${quoted(name)}`;
}

/** Runs a call when its turn has come. `offered`: its tool, or why there is none. */
async function runInTurn(
  turn: Promise<unknown> | undefined,
  call: ToolCallItem,
  offered: OfferedTool | string,
  uses: ToolUses,
  context: ToolContext,
  began: (offered: OfferedTool, members: BegunMembers) => void,
): Promise<FinishedCall> {
  await turn;
  if (context.signal.aborted) return { ...notRun(CANCELLED, context), end: 'cancelled' };
  if (typeof offered === 'string') return notRun(offered, context);
  const asked = argumentsOf(call.input, offered.schema);
  if (typeof asked === 'string') return notRun(asked, context, 'invalid_tool_input');
  const startedAtMs = context.now();
  const told = context.toldTrace?.next();
  const span = told === undefined ? {} : { spanId: told.spanId };
  began(offered, { startedAtMs, ...span });
  const { outcome, end } = await runBounded(offered, call.callId, asked, uses, toldContext(context, told));
  const output = readable(outcome.output, context.settings.web.limits.resultCharacters);
  return {
    outcome: output === outcome.output ? outcome : { ...outcome, output },
    end,
    startedAtMs,
    durationMs: Math.max(0, context.now() - startedAtMs),
    isRun: outcome.isRun !== false,
    ...span,
  };
}

function toldContext(context: ToolContext, told: ToldSpan | undefined): ToolContext {
  return told === undefined
    ? context
    : { ...context, told, egress: tellingEgress(context.egress, told.headers) };
}

/** A way out whose calls of services have further headers. Fetches of pages have not: anyone may have named them. */
function tellingEgress(egress: Egress, headers: Readonly<Record<string, string>>): Egress {
  return {
    fetch: (url, request) => egress.fetch(url, request),
    call: (url, request) => egress.call(url, { ...request, headers: { ...request.headers, ...headers } }),
  };
}

const UNREADABLE = /[\p{Cs}\0]/gu;

/** A result that every upstream takes: bounded, without halves of pairs and zero characters. */
function readable(output: string, maxCharacters: number): string {
  return boundedText(output, maxCharacters).replace(UNREADABLE, '\ufffd');
}

function notRun(error: string, { now }: Pick<ToolContext, 'now'>, code?: string): FinishedCall {
  return {
    outcome: toolFailure(error, {}, code),
    end: 'error',
    startedAtMs: now(),
    durationMs: 0,
    isRun: false,
  };
}

/** The arguments of a call, or why they are not valid. */
function argumentsOf(input: string, schema: JsonObject): JsonObject | string {
  const reading = readJson(input.trim() === '' ? '{}' : input);
  if (!reading.ok || !isJsonObject(reading.value)) return 'the arguments are no JSON object';
  const fault = schemaFault(reading.value, schema, MAX_SCHEMA_STEPS);
  return fault === undefined ? reading.value : misfitText(fault);
}

async function runBounded(
  offered: OfferedTool,
  callId: string,
  asked: JsonObject,
  uses: ToolUses,
  context: ToolContext,
): Promise<{ readonly outcome: ToolOutcome; readonly end: ToolCallEnd }> {
  const { signal, settings, log, generationId } = context;
  const { tool, parameters } = offered;
  const own = new AbortController();
  const late = new ToolTimeout();
  const giveUp = () => own.abort(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  const timer =
    tool.isTimedByLegs === true ? undefined : setTimeout(() => own.abort(late), settings.web.limits.toolMs);
  const aborted = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true });
  });
  // Prevents an unhandled rejection; the race below rethrows it.
  aborted.catch(() => {});
  const use = uses.begin(offered);
  let found = 0;
  try {
    const running = tool.run(
      { callId, arguments: asked, parameters, ...use },
      { ...context, signal: own.signal },
    );
    const outcome = await Promise.race([running, aborted]);
    found = outcome.pages?.length ?? 0;
    return { outcome, end: outcome.isFailed === true ? 'error' : 'ok' };
  } catch (error) {
    if (signal.aborted) return { outcome: toolFailure(CANCELLED), end: 'cancelled' };
    if (own.signal.reason === late) {
      return { outcome: toolFailure('the tool gave no result in its time'), end: 'timeout' };
    }
    log.warn('a server tool failed', { tool: tool.name, generation_id: generationId, error: String(error) });
    const message = error instanceof GatewayError ? error.message : 'the tool failed';
    return { outcome: toolFailure(message), end: 'error' };
  } finally {
    use.end(found);
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    // Stops a tool that is still running after its time.
    own.abort(late);
  }
}
