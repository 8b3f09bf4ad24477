import { GatewayError } from '../../ir/errors.ts';
import type {
  Event,
  EventBatch,
  Failure,
  Finish,
  FinishReason,
  ItemHead,
  PartKind,
} from '../../ir/events.ts';
import { Fold } from '../../ir/folding/fold.ts';
import { JoinedLegs } from '../../ir/folding/joined-legs.ts';
import { conversationForm, showsPauses } from '../../ir/format-facts.ts';
import type { Item, Source, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import type { ToolCallRecord } from '../../ir/leg.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { type Result, writtenItems } from '../../ir/result.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, textAt } from '../../kit/json/members.ts';
import { type Nanos, usdOf } from '../../kit/money.ts';
import { countText } from '../../kit/text/count-text.ts';
import type { NestedCall, ToolContext, ToolOutcome } from '../../tools/server-tool.ts';
import { wantedTools } from '../../tools/wanted-tools.ts';
import { webSearch } from '../../tools/web-search.ts';
import type { FoundPage } from '../../web/engines/engine.ts';
import { LinkCitations } from '../../web/link-citations.ts';
import type { LegWish, Next, StageContext } from '../stage.ts';
import { withNativeSearches } from './native-searches.ts';
import { laterChoice, type OfferedTool, OfferedTools } from './offered-tools.ts';
import { type OpeningCall, openingFailure, withOpeningResult } from './opening-call.ts';
import { begunCall, recordCall } from './record-call.ts';
import { type RunningCall, runCalls, type StepContext, type StepObserver, ToolUses } from './run-calls.ts';
import {
  forbidsSteps,
  hardMaxCostOf,
  type LoopProgress,
  MAX_COST,
  StopConditions,
} from './stop-conditions.ts';
import { ToolProgress } from './tool-progress.ts';

/** Ends of a leg after which its calls are run. */
const CALLING: ReadonlySet<FinishReason> = new Set(['tool-calls', 'stop']);

/** Runs what comes before the first leg: changes its request, and shows items. */
export type Preface = (request: GenerationRequest) => Promise<{
  readonly request: GenerationRequest;
  readonly items: readonly PrefaceItem[];
}>;

export interface PrefaceItem {
  readonly head: Extract<ItemHead, { type: 'server-call' }>;
  readonly outcome: ToolOutcome;
}

interface EndedLeg {
  readonly items: readonly Item[];
  readonly terminal: Finish | Failure;
}

/** What tools use besides models. */
export type ToolServices = Pick<ToolContext, 'egress' | 'files'>;

/** One generation with server tools: legs of the model and calls of tools in turn, as one answer. */
export class ToolLoop {
  readonly #tools: OfferedTools;
  readonly #next: Next;
  readonly #context: StageContext;
  readonly #services: ToolServices;
  readonly #joined: JoinedLegs;
  readonly #citations = new LinkCitations([]);
  readonly #uses = new ToolUses();
  /** What the tools of the current step show. */
  #progress = new ToolProgress();
  /** Events of items that come before those of the first leg, until it has begun. */
  #held: readonly Event[] = [];
  readonly #called = new Set<string>();
  /** Pages that tools have read or not; undefined = none has tried. */
  #pages: { read: number; failed: number; readonly errors: Set<string> } | undefined;
  readonly #conditions: StopConditions;
  /** The caller learns of paused turns and continues them. What a tool asks is never seen by the caller. */
  readonly #showsPauses: boolean;
  readonly #wish: LegWish = { adapt: (request, endpoint) => this.#tools.requestFor(request, endpoint) };
  #steps = 0;
  #isOpened = false;
  #requested = 0;
  #legs = 0;
  #spentNanos: Nanos = 0n;
  #dearestStepNanos: Nanos = 0n;

  /** `outer`: the conditions of the loop that runs this one for a tool. */
  constructor(
    tools: OfferedTools,
    next: Next,
    context: StageContext,
    services: ToolServices,
    outer?: StopConditions,
  ) {
    const { steps } = context.settings.tools;
    this.#conditions = new StopConditions(tools.wishes, steps, context.settings.vendor, outer);
    this.#showsPauses = outer === undefined && showsPauses(tools.request.formatFacts);
    this.#tools = tools;
    this.#next = next;
    this.#context = context;
    this.#services = services;
    this.#joined = new JoinedLegs((head) => tools.isOwn(head));
  }

  async *run(
    request: GenerationRequest,
    opening?: OpeningCall,
    preface?: Preface,
  ): AsyncGenerator<EventBatch, void, undefined> {
    const prefaced = preface === undefined ? request : await this.#withPreface(request, preface);
    const opened = opening === undefined ? prefaced : yield* this.#open(prefaced, opening);
    if (opened === undefined) return;
    let stoppedBy = forbidsSteps(this.#tools.wishes) ? 'max_tool_calls' : undefined;
    // Plugins may have cost the amount before any leg: the first is the last then.
    if (stoppedBy === undefined && this.#conditions.isPaidUp(this.#context.used().nanos))
      stoppedBy = MAX_COST;
    let asked = stoppedBy === MAX_COST ? furtherRequest(opened, [], true) : opened;
    const isBounded = hardMaxCostOf(this.#tools.wishes) !== undefined;
    /** True for a leg that continues a paused one: only the upstream that paused can read what it has sealed. */
    let isPinned = false;
    /** Shorter forms of `asked`, for a hard limit whose rest does not pay for reading the results. */
    let shorter: GenerationRequest[] = [];
    for (;;) {
      const leg = yield* this.#leg(asked, isPinned);
      // The caller has left.
      if (leg === undefined) return;
      const { items, terminal } = leg;
      const next = isUnpaid(leg) ? shorter.shift() : undefined;
      if (next !== undefined) {
        stoppedBy = MAX_COST;
        asked = next;
        this.#joined.begin();
        continue;
      }
      if (stoppedBy === undefined && isPaused(leg) && !this.#showsPauses) {
        stoppedBy = this.#conditions.met(this.#progressAt('pause'));
        if (stoppedBy === undefined) {
          this.#steps += 1;
          asked = furtherRequest(asked, items, false);
          isPinned = true;
          shorter = [];
          this.#joined.begin();
          continue;
        }
      }
      isPinned = false;
      const calls = items.filter((item) => this.#isOwnCall(item));
      const mayCall = stoppedBy === undefined && opened.toolChoice?.mode !== 'none';
      const mayRun = mayCall && terminal.type === 'finish' && CALLING.has(terminal.reason);
      if (!mayRun || calls.length === 0) {
        yield this.#end(
          calls.length > 0 && terminal.type === 'finish' ? unanswered(terminal) : terminal,
          stoppedBy,
        );
        return;
      }
      const step = yield* this.#step(calls, asked);
      if (step.ends || items.some((item) => item.type === 'tool-call' && !this.#isOwnCall(item))) {
        yield this.#end(step.ends ? { ...terminal, reason: 'stop' } : terminal, stoppedBy);
        return;
      }
      stoppedBy = this.#conditions.met(this.#progressAt(terminal.reason));
      const before = asked;
      asked = furtherRequest(before, [...items, ...step.results], stoppedBy !== undefined);
      if (isBounded) {
        const last = furtherRequest(before, [...items, ...step.results.map(withoutText)], true);
        const added = last.items.slice(opened.items.length);
        shorter = [last, { ...last, items: [...opened.items, ...added.map(withoutText)] }];
      }
      this.#joined.begin();
    }
  }

  /**
   * Runs a call before the first leg. Returns the request with its result; undefined if it failed and there is no
   * answer without it. Such a call is shown once it has written something: until then the whole request may fail.
   */
  async *#open(
    request: GenerationRequest,
    { call, isRequired }: OpeningCall,
  ): AsyncGenerator<EventBatch, GenerationRequest | undefined, undefined> {
    const step = this.#step([call], request);
    const held: Event[] = [];
    this.#isOpened = !isRequired;
    for (;;) {
      const { value, done } = await step.next();
      if (!done) {
        held.push(...value);
        this.#isOpened ||= value.some(isWritten);
        if (this.#isOpened) yield held.splice(0);
        continue;
      }
      // It is no step of the model's own.
      this.#steps = 0;
      this.#requested = 0;
      const [outcome] = value.outcomes;
      if (outcome === undefined) return request;
      if (isRequired && outcome.isFailed === true) {
        const error = openingFailure(outcome);
        if (!this.#isOpened) throw error;
        yield [{ type: 'failure', error }];
        return undefined;
      }
      this.#isOpened = true;
      if (held.length > 0) yield held;
      return withOpeningResult(request, outcome);
    }
  }

  /** The request of the first leg. Items that come before it wait for its beginning: until then it may be refused. */
  async #withPreface(request: GenerationRequest, preface: Preface): Promise<GenerationRequest> {
    const { request: prefaced, items } = await preface(request);
    this.#held = items.flatMap(({ head, outcome }): Event[] => {
      const item = this.#joined.ownItem();
      const { output, shown, isFailed = false } = outcome;
      return [
        { type: 'item-start', item, head },
        { type: 'server-result', item, output, shown, isFailed },
        { type: 'item-end', item },
      ];
    });
    return prefaced;
  }

  #takeHeld(): EventBatch {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #progressAt(finish: FinishReason): LoopProgress {
    return { steps: this.#steps, called: this.#called, ...this.#spending(), finish };
  }

  #spending(): Pick<LoopProgress, 'tokens' | 'nanos' | 'dearestLegNanos' | 'dearestStepNanos'> {
    const used = this.#context.used();
    const ofStep = used.nanos - this.#spentNanos;
    if (ofStep > this.#dearestStepNanos) this.#dearestStepNanos = ofStep;
    this.#spentNanos = used.nanos;
    return { ...used, dearestStepNanos: this.#dearestStepNanos };
  }

  /** Runs one leg, and forwards what callers may see of it. */
  async *#leg(
    asked: GenerationRequest,
    isPinned: boolean,
  ): AsyncGenerator<EventBatch, EndedLeg | undefined, undefined> {
    const fold = new Fold();
    let terminal: Finish | Failure | undefined;
    this.#legs += 1;
    try {
      for await (const batch of this.#next(asked, isPinned ? { ...this.#wish, isPinned } : this.#wish)) {
        fold.pushAll(batch);
        const joined = this.#joined.push(batch);
        terminal = joined.terminal ?? terminal;
        if (joined.passing.length === 0) continue;
        if (this.#held.length > 0) yield this.#takeHeld();
        yield this.#citations.annotate(joined.passing);
      }
    } catch (error) {
      // A later leg that is refused ends the answer; before the first the whole request is refused.
      if ((this.#steps === 0 && !this.#isOpened) || !(error instanceof GatewayError)) throw error;
      terminal = { type: 'failure', error };
    }
    return terminal && { items: writtenItems(fold.result().items), terminal };
  }

  /** Runs the calls of one step, all at once; shows them in their order. */
  async *#step(
    calls: readonly ToolCallItem[],
    asked: GenerationRequest,
  ): AsyncGenerator<
    EventBatch,
    {
      readonly results: readonly ToolResultItem[];
      readonly outcomes: readonly ToolOutcome[];
      readonly ends: boolean;
    },
    undefined
  > {
    this.#steps += 1;
    this.#requested += calls.length;
    const places = calls.map(({ name }) => {
      const offered = this.#tools.named(name);
      return offered === undefined || isShownWhenValid(offered) ? undefined : this.#joined.ownItem();
    });
    const progress = new ToolProgress();
    this.#progress = progress;
    const tell = (index: number, text: string) => {
      const item = places[index];
      if (item !== undefined) progress.show({ type: 'server-delta', item, text });
    };
    const showStep = (index: number, step: string, members: JsonObject) => {
      const item = places[index];
      if (item !== undefined) progress.show({ type: 'server-step', item, step, members });
    };
    const context = this.#toolContext(asked);
    const leg = this.#legs;
    // At once, because the answer may end while other calls of the step run.
    const begun: ToolCallRecord[] = [];
    const numbers: number[] = [];
    const began: StepObserver['began'] = (index, { tool }, members) => {
      const name = tool.recordName ?? tool.name;
      const call = begunCall({ name, leg, ...members }, calls[index]?.input ?? '');
      begun[index] = call;
      numbers[index] = this.#context.noteToolCalls([call]);
    };
    const ended: StepObserver['ended'] = (index, offered, finished) => {
      const { name = '', input = '' } = calls[index] ?? {};
      const recorded = offered?.tool.recordName ?? offered?.tool.name ?? name;
      const call = { name: recorded, input, leg, ...finished };
      return recordCall(call, this.#context, asked.watch, begun[index]);
    };
    const nested: StepObserver['nested'] = (index, request, call) =>
      this.#nested(request, call, numbers[index]);
    const observer = { tell, showStep, began, nested, ended };
    const running = runCalls(calls, this.#tools, this.#uses, context, observer);
    const starts = running.flatMap((each, index) => startOf(each, places[index]));
    if (this.#held.length > 0) yield this.#takeHeld();
    if (starts.length > 0) yield starts;
    const results: ToolResultItem[] = [];
    const outcomes: ToolOutcome[] = [];
    let ends = false;
    for (const [index, { call, offered, outcome: pending }] of running.entries()) {
      yield* progress.until(pending);
      const { outcome, end } = await pending;
      if (end === 'cancelled') throw context.signal.reason;
      const { output, shown, isFailed = false, pages = [], image } = outcome;
      if (offered !== undefined) this.#called.add(offered.tool.name);
      if (offered?.tool.readsPages === true) this.#notePage(outcome);
      // Guardrails look at the text of answers, not at citations: these then quote nothing of a page.
      this.#citations.add(this.#context.caller.guardrails.length === 0 ? pages : pages.map(unquoted));
      results.push(resultOf(call, output));
      outcomes.push(outcome);
      ends ||= outcome.ends === true && !isFailed;
      const isLate = offered !== undefined && isShownWhenValid(offered) && !isFailed;
      const item = isLate ? this.#joined.ownItem() : places[index];
      if (item === undefined) continue;
      if (isLate) yield startOf({ call, offered }, item);
      const known = { ...offered?.shown, ...(isFailed && offered?.tool.failureMembers) };
      yield [
        { type: 'server-result', item, output, shown: { ...known, ...shown }, isFailed },
        { type: 'item-end', item },
        ...(image === undefined ? [] : this.#imageItem(image, asked)),
      ];
    }
    return { results, outcomes, ends };
  }

  /** An image that a tool has made as an item of the answer, if callers do not see it in the item of the call. */
  #imageItem(source: Source, { formatFacts }: GenerationRequest): Event[] {
    if (conversationForm(formatFacts).showsServerCalls === true) return [];
    const item = this.#joined.ownItem();
    return [
      { type: 'item-start', item, head: { type: 'image' } },
      { type: 'image-data', item, source },
      { type: 'item-end', item },
    ];
  }

  #toolContext(asked: GenerationRequest): StepContext {
    const { generationId, settings, caller, workspace, signal, log, toldTrace, charge, note, now } =
      this.#context;
    return {
      generationId,
      settings,
      caller,
      workspace,
      ...this.#services,
      signal,
      request: asked,
      endpoint: this.#tools.endpoint,
      log,
      toldTrace,
      now,
      charge,
      note,
    };
  }

  /** Runs a model call for a tool, in a loop of its own: for its server tools, and if its turn is paused. */
  async #nested(
    asked: GenerationRequest,
    { kind, signal, ...shows }: NestedCall,
    number: number | undefined,
  ): Promise<Result> {
    const { settings } = this.#context;
    const next: Next = (leg, wish) => {
      const toolCall = wish?.toolCall ?? number;
      return this.#next(leg, { ...wish, kind, signal, toolCall });
    };
    const request = await this.#searching(asked);
    const wanted = wantedTools(request, settings).filter(({ of }) => asked.tools.includes(of));
    const tools = new OfferedTools(request, wanted, this.#tools.endpoint, settings);
    const context = { ...this.#context, signal };
    const loop = new ToolLoop(tools, next, context, this.#services, this.#conditions);
    const fold = new Fold();
    for await (const batch of loop.run(tools.request)) {
      fold.pushAll(batch);
      if (shows.onText !== undefined || shows.onThought !== undefined) showTexts(batch, shows);
      // A caller who reads slowly slows the models down, as in a plain stream.
      await this.#progress.room(signal);
    }
    return fold.result();
  }

  /** The request of a tool with the upstream's own search where that is chosen. */
  async #searching(asked: GenerationRequest): Promise<GenerationRequest> {
    const { settings, endpointsFor } = this.#context;
    if (!wantedTools(asked, settings).some(({ tool }) => tool === webSearch)) return asked;
    return withNativeSearches(asked, await endpointsFor(asked), settings);
  }

  /** The last events of the answer. */
  #end(terminal: Finish | Failure, stoppedBy: string | undefined): EventBatch {
    const { note, used } = this.#context;
    if (this.#steps > 0 || stoppedBy === MAX_COST) {
      const ending = stoppedBy === undefined ? '' : `, ended by ${stoppedBy}`;
      note({
        type: 'server_tools',
        name: 'tool-loop',
        summary: `${countText(this.#steps, 'step')}, ${countText(this.#requested, 'call')}${ending}`,
        data: {
          mode: 'sdk',
          tools: [...this.#called],
          steps: this.#steps,
          tool_calls: this.#requested,
          ...(this.#pages !== undefined && {
            pages: { ...this.#pages, errors: [...this.#pages.errors] },
          }),
          ...(stoppedBy !== undefined && { stopped_by: stoppedBy }),
          ...(stoppedBy === MAX_COST && { cost: usdOf(used().nanos) }),
        },
      });
    }
    return [...this.#takeHeld(), ...this.#joined.takeLateCalls(), terminal];
  }

  #notePage({ isFailed = false, shown }: ToolOutcome): void {
    this.#pages ??= { read: 0, failed: 0, errors: new Set() };
    this.#pages[isFailed ? 'failed' : 'read'] += 1;
    const error = isFailed ? textAt(shown, 'error') : undefined;
    if (error !== undefined) this.#pages.errors.add(error);
  }

  #isOwnCall(item: Item): item is ToolCallItem {
    return item.type === 'tool-call' && this.#tools.isOwn(item);
  }
}

/** True for a step that shows what a model has written. */
function isWritten(event: Event): boolean {
  return event.type === 'server-step' && typeof (event.members.delta ?? event.members.content) === 'string';
}

const ANSWER: ReadonlySet<PartKind> = new Set(['text']);
const THOUGHTS: ReadonlySet<PartKind> = new Set(['thought', 'summary']);

/** Shows text and thoughts of a batch of events in the order in which the model wrote them. */
function showTexts(batch: EventBatch, shows: Pick<NestedCall, 'onText' | 'onThought'>): void {
  for (const event of batch) {
    if (event.type === 'relay') showTexts(event.events, shows);
    else if (event.type === 'text-delta') {
      if (ANSWER.has(event.kind)) shows.onText?.(event.text);
      else if (THOUGHTS.has(event.kind)) shows.onThought?.(event.text);
    }
  }
}

function unquoted({ url }: FoundPage): FoundPage {
  return { url, title: '', content: '' };
}

/** An answer that ends although the model has called tools which are not run any more. */
function unanswered(terminal: Finish): Finish {
  return terminal.reason === 'tool-calls' ? { type: 'finish', reason: 'pause' } : terminal;
}

/**
 * True for a hosted tool whose calls the caller carries out: its item has no status for calls that are not valid, so
 * that callers get only those that are.
 */
function isShownWhenValid({ tool, hostedAs }: OfferedTool): boolean {
  return tool.endsAnswer === true && hostedAs !== undefined;
}

function startOf(
  { call, offered }: Pick<RunningCall, 'call' | 'offered'>,
  item: number | undefined,
): Event[] {
  if (offered === undefined || item === undefined) return [];
  const { tool, hostedAs, shown } = offered;
  const { callId, input } = call;
  const head = { type: 'server-call', tool: tool.name, callId, input, hostedAs, shown } as const;
  return [{ type: 'item-start', item, head: compact(head) as ItemHead }];
}

/** A failure is said in the text of the result, which every dialect can carry. */
function resultOf({ kind, callId }: ToolCallItem, output: string): ToolResultItem {
  return { type: 'tool-result', kind, callId, content: [{ type: 'text', text: output }] };
}

/** True for a turn that the upstream has paused, and that goes on if it is sent back: with all calls answered. */
function isPaused({ items, terminal }: EndedLeg): boolean {
  if (terminal.type !== 'finish' || terminal.reason !== 'pause') return false;
  return items.length > 0 && !items.some(({ type }) => type === 'tool-call');
}

/** True for a leg that the limits did not pay for. */
function isUnpaid({ items, terminal }: EndedLeg): boolean {
  return items.length === 0 && terminal.type === 'finish' && terminal.reason === 'budget';
}

/** Characters of results that are never left out: they cost hardly more than the note in their place. */
const SHORT_RESULT_CHARACTERS = 300;

const LEFT_OUT = JSON.stringify({
  error: 'this result is left out: what is left of max_cost_in_dollars does not pay for reading it',
});

/** A result with a note in place of a long text; any other item as it is. */
function withoutText<T extends Item>(item: T): T {
  if (item.type !== 'tool-result') return item;
  const characters = item.content.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text.length : 0),
    0,
  );
  return characters <= SHORT_RESULT_CHARACTERS
    ? item
    : { ...item, content: [{ type: 'text', text: LEFT_OUT }] };
}

/** The next request: all that was said and done so far. `isLast`: the model must answer without tools. */
function furtherRequest(
  asked: GenerationRequest,
  added: readonly Item[],
  isLast: boolean,
): GenerationRequest {
  const items = [...asked.items, ...added];
  const { toolChoice: _, ...rest } = asked;
  const toolChoice = isLast ? ({ mode: 'none' } as const) : laterChoice(asked.toolChoice);
  return { ...rest, items, ...(toolChoice !== undefined && { toolChoice }) };
}
