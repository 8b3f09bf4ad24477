import { FREE } from '../../catalog/prices/bill.ts';
import { NOTHING } from '../../ir/amount.ts';
import { GatewayError, toGatewayError } from '../../ir/errors.ts';
import { type Event, type EventBatch, hasContent, terminalIndex, terminalOf } from '../../ir/events.ts';
import type { LegStatus } from '../../ir/leg.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { Flow, FlowSource } from '../../kit/frames/flow.ts';
import { LightAbortController } from '../../kit/loop/light-abort.ts';
import type { Refusal } from '../../ports/money/ledger.ts';
import { plusWriteOffs } from '../../ports/money/write-offs.ts';
import { type Candidate, isSameCandidate } from '../../routing/rules/candidate.ts';
import type { LegWish } from '../../stages/stage.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { Admission } from '../admission/admission.ts';
import { admitFurther, MaxCostReached, type MeasuredPrompt } from '../admission/admit.ts';
import { Attempts } from '../leg/attempt.ts';
import { Leg } from '../leg/leg.ts';
import type { AnswerEnd, LegAccount } from '../leg/leg-account.ts';
import { type AdmittedLeg, EndedLeg, RunningLeg } from '../leg/running-leg.ts';
import { NothingLeft, type Plan, planWithoutCandidates } from '../plan/plan.ts';
import { accountOf, withOwnWork } from '../record/account.ts';
import { acceptedRow } from '../record/generation-row.ts';
import type { AttemptLimits } from '../request/settings.ts';
import type { AnswerDependencies, AnswerState } from './answer-dependencies.ts';
import { Answering } from './answering.ts';
import { OpenLeg } from './open-leg.ts';
import { StagedFlow } from './staged-flow.ts';
import { plannedGeneration, type Underway } from './underway.ts';

/** The end of a generation whose next leg cannot be paid for. */
const OUT_OF_MONEY = { type: 'finish', reason: 'budget' } as const;

/**
 * A generation whose stages run the legs: one or several, in sequence or at the same time. Each leg has an account of
 * its own, which is closed and recorded when the leg ends; the generation's account is the sum.
 */
export class SeveralLegs extends Answering {
  /** Admission of the first leg, until that begins. */
  #first: Admission | undefined;
  readonly #open = new Map<RunningLeg, OpenLeg>();
  readonly #closing: Promise<void>[] = [];
  /** True once the answer has ended: no further leg begins. */
  #isOver = false;
  /** The last main leg whose prompt its upstream has counted. */
  #measured: MeasuredLeg | undefined;
  /** Every leg may make one call; the calls beyond that are shared by all legs. */
  readonly #limits: AttemptLimits;

  constructor(
    underway: Underway,
    admission: Admission,
    dependencies: AnswerDependencies,
    state: AnswerState,
  ) {
    super(underway, dependencies, state);
    this.#first = admission;
    const { attempts } = underway.settings;
    this.#limits = { ...attempts, retries: { left: attempts.perRequest - 1 } };
    const { signal } = this.reading;
    signal.addEventListener('abort', () => {
      for (const { giveUp } of this.#open.values()) giveUp.abort(signal.reason);
    });
  }

  override flow(): Flow<EventBatch> {
    const { stages, request } = this.underway;
    const pipeline = stages.around((staged, wish) => this.#leg(staged, wish));
    return new StagedFlow(pipeline(request), this.reading);
  }

  /** Legs are metered when they are read: of the batches that stages forward only the first content matters. */
  override watch(batch: EventBatch): void {
    if (!this.hasContent && hasContent(batch)) this.noteContent();
  }

  override mayGoOn(): boolean {
    return true;
  }

  /** Legs that are still open end with the answer. */
  override async account(_: Result, end: AnswerEnd): Promise<LegAccount> {
    this.#isOver = true;
    for (const [running, { giveUp }] of [...this.#open]) {
      this.#close(running, end === 'whole' ? 'cut' : end).catch(() => {});
      giveUp.abort(GIVEN_UP);
    }
    await Promise.all(this.#closing);
    const { usage, bill } = accountOf(this.endedLegs(), this.attemptLog.charges);
    return { usage: withOwnWork(usage, this.attemptLog), bill, uncharged: this.uncharged };
  }

  protected override concludeLegs(): void {
    // Each leg was concluded when it ended.
  }

  /** A stage that answers or refuses without a leg makes a generation too. */
  protected override get isNothing(): boolean {
    return this.legs.length > 0 && super.isNothing;
  }

  /** One leg, which can be cancelled at any moment, also before its upstream has answered. */
  #leg(request: GenerationRequest, wish: LegWish = {}): FlowSource<EventBatch> {
    const giveUp = new LightAbortController();
    const { signal } = wish;
    if (signal?.aborted === true) giveUp.abort(GIVEN_UP);
    else signal?.addEventListener('abort', () => giveUp.abort(GIVEN_UP), { once: true });
    let open: OpenLeg | undefined;
    const events = this.#run(request, wish, giveUp, (begun) => {
      open = begun;
    });
    const flow: Flow<EventBatch> = {
      next: () => events.next(),
      poll: () => open?.poll(),
      whenReady: (wake) => open?.whenReady(wake) ?? false,
      return: () => {
        giveUp.abort(GIVEN_UP);
        return events.return();
      },
    };
    return { [Symbol.asyncIterator]: () => flow };
  }

  /**
   * Runs one leg. Its output is metered and its account closed before its last event is forwarded. `begun` is called
   * with the leg, whose further events may be polled between two steps.
   */
  async *#run(
    request: GenerationRequest,
    wish: LegWish,
    giveUp: LightAbortController,
    begun: (open: OpenLeg) => void,
  ): AsyncGenerator<EventBatch, void, undefined> {
    const isFirst = this.#first !== undefined;
    const running = await this.#begin(request, wish, giveUp).catch((error: unknown) => {
      if (error instanceof NothingLeft) this.#noteNothingLeft(error, wish);
      if (isFirst) throw error;
      return toGatewayError(error);
    });
    if (running instanceof MaxCostReached) {
      const { message: summary } = running;
      this.underway.stages.note({ type: 'plugin', name: 'budget', summary, data: { scope: 'request' } });
      yield [OUT_OF_MONEY];
      return;
    }
    if (running instanceof GatewayError) {
      // The caller has left: the answer ends without a terminal event.
      if (this.reading.isAbandoned) return;
      this.attemptLog.add(failedLeg(request, wish, this.dependencies.clock.now()));
      yield [{ type: 'failure', error: running }];
      return;
    }
    if (!(running instanceof RunningLeg)) {
      const summary = shortageOf(running);
      if (isFirst) throw new GatewayError('payment', summary);
      const { scope, window } = running;
      this.underway.stages.note({ type: 'plugin', name: 'budget', summary, data: { scope, window } });
      yield [OUT_OF_MONEY];
      return;
    }
    const { keptCharacters, checkpoints } = this;
    const open = new OpenLeg(running, new Attempts(running, wish.adapt), {
      keptCharacters,
      checkpoints,
      giveUp,
    });
    this.#open.set(running, open);
    begun(open);
    try {
      // Before its upstream is called, so that a crash leaves no call without a record.
      if (!isFirst) await this.underway.reservation.noteNow();
      for await (const batch of open.events) {
        const terminal = terminalIn(batch);
        open.note(batch, terminal !== undefined);
        if (terminal !== undefined) {
          await this.#close(running, terminal.type === 'failure' ? terminal.error : 'whole');
          yield batch;
          return;
        }
        yield batch;
        if (open.mayGoOn) continue;
        const ending = open.cutShort();
        await this.#close(running, 'cut');
        yield ending;
        return;
      }
    } catch (error) {
      const failure = toGatewayError(error);
      const isGivenUp = giveUp.signal.reason === GIVEN_UP;
      const isCut = this.reading.isAbandoned || isGivenUp;
      await this.#close(running, isCut ? this.#cutEnd : failure);
      // Before any content the whole generation fails; later its stream does.
      if (isFirst && !isGivenUp) throw error;
      // The caller has left, or the stage cancelled the leg: there is no terminal event.
      if (!isCut) yield [{ type: 'failure', error: failure }];
    } finally {
      await this.#close(running, this.#cutEnd);
    }
  }

  /** Says in the pipeline why a model call of a tool had no endpoint: callers may not see the tool's error. */
  #noteNothingLeft({ message }: NothingLeft, { kind = 'main' }: LegWish): void {
    this.underway.stages.note({ type: 'server_tools', name: kind, summary: message });
  }

  /** How a leg ends that is not read any further. */
  get #cutEnd(): 'left' | 'cut' {
    return this.reading.isAbandoned ? 'left' : 'cut';
  }

  /** The admitted leg, or the limit that is too low for it. */
  async #begin(
    request: GenerationRequest,
    wish: LegWish,
    giveUp: LightAbortController,
  ): Promise<RunningLeg | Refusal> {
    const { input } = this.underway;
    this.#assertOpen();
    const planned = this.#first;
    this.#first = undefined;
    if (planned !== undefined && request === this.underway.request && isMain(wish)) {
      const { attemptLog, prompt } = this.underway;
      const { acceptedAtMs: pricedAtMs } = input;
      const { firstLeg: leg } = attemptLog;
      return this.#running({ leg, request, prompt, admission: planned, pricedAtMs }, giveUp);
    }
    if (planned !== undefined) this.underway.reservation.release(planned.reserved, NOTHING);
    return this.#beginFurther(request, wish, giveUp);
  }

  async #beginFurther(
    request: GenerationRequest,
    wish: LegWish,
    giveUp: LightAbortController,
  ): Promise<RunningLeg | Refusal> {
    const { input, settings, reservation, planFurther } = this.underway;
    const { tokenizer, clock } = this.dependencies;
    const { byokFee } = settings;
    const { learnt } = this.surroundings.state;
    const prompt = new Prompt(request);
    const plan = this.#preferring(await planFurther(request, prompt), wish);
    const pricedAtMs = clock.now();
    const row = () => acceptedRow(plannedGeneration(this.underway));
    const admission = await admitFurther(
      { input, request, prompt, plan, pricedAtMs, row, measured: this.#measuredFor(request, plan) },
      { reservation, tokenizer, learnt, byokFee },
    );
    if (!(admission instanceof Admission)) return admission;
    this.#assertOpen();
    const leg = new Leg(admission.plan, wish);
    this.attemptLog.add(leg);
    return this.#running({ leg, request, prompt, admission, pricedAtMs }, giveUp);
  }

  /** Throws after the end of the answer: a later leg would be in no account. */
  #assertOpen(): void {
    const { signal, isAbandoned } = this.reading;
    if (signal.aborted) throw signal.reason;
    if (isAbandoned || this.#isOver)
      throw new GatewayError('server', 'A leg was asked for after the end of its answer');
  }

  #running(admitted: Omit<AdmittedLeg, 'limits' | 'mostNanos'>, giveUp: LightAbortController): RunningLeg {
    const { signal } = this.reading;
    const { reservation } = this.underway;
    const mostNanos = () => reservation.mostFor(admitted.admission.reserved);
    if (signal.aborted) giveUp.abort(signal.reason);
    const isFurther = admitted.leg !== this.attemptLog.firstLeg;
    const surroundings = { ...this.surroundings, signal: giveUp.signal, isFurther };
    const running = new RunningLeg({ ...admitted, limits: this.#limits, mostNanos }, surroundings);
    this.legs.push(running);
    return running;
  }

  /** Main legs prefer the candidate that served the previous main leg; pinned legs accept no other. */
  #preferring(plan: Plan, wish: LegWish): Plan {
    const served = this.attemptLog.serving.selected;
    const isSame = (each: Plan['candidates'][number]) =>
      served !== undefined && isSameCandidate(each, served);
    const preferred = isMain(wish) || wish.isPinned === true ? plan.candidates.filter(isSame) : [];
    if (wish.isPinned === true) {
      if (preferred.length > 0) return { ...plan, candidates: preferred };
      throw new GatewayError(
        'upstream-unavailable',
        'The endpoint that served before cannot serve the next model call',
      );
    }
    if (preferred.length === 0) return plan;
    return { ...plan, candidates: [...preferred, ...plan.candidates.filter((each) => !isSame(each))] };
  }

  /** The counted prompt of an earlier leg with the same candidate, with which the prompt of a request begins. */
  #measuredFor({ items, tools }: GenerationRequest, { candidates }: Plan): MeasuredPrompt | undefined {
    const [first] = candidates;
    if (this.#measured === undefined || first === undefined) return undefined;
    const { request, candidate, prompt } = this.#measured;
    const isSame =
      isSameCandidate(first, candidate) &&
      tools === request.tools &&
      request.items.every((item, index) => items[index] === item);
    return isSame ? prompt : undefined;
  }

  /** Closes the account of a leg, once, and records it. */
  async #close(running: RunningLeg, end: AnswerEnd): Promise<void> {
    const open = this.#open.get(running);
    if (open === undefined) return;
    this.#open.delete(running);
    const closing = this.#settle(running, open.result(), end);
    this.#closing.push(closing);
    await closing;
  }

  async #settle(running: RunningLeg, result: Result, end: AnswerEnd): Promise<void> {
    const account = await running.account(result, end);
    running.conclude(account, statusOf(end), result, typeof end === 'string' ? undefined : end);
    this.uncharged = plusWriteOffs(this.uncharged, account.uncharged);
    const { reservation } = this.underway;
    reservation.noteLeg(account.usage.inputTokens + account.usage.outputTokens, running.spent);
    reservation.release(running.admission.reserved, running.spent);
    const { request, selected, measuredPrompt } = running;
    if (running.leg.kind === 'main' && selected !== undefined && measuredPrompt !== undefined) {
      this.#measured = { request, candidate: selected, prompt: measuredPrompt };
    }
    this.#keepAccount(running);
    // The only leg is recorded with the generation, which ends with it.
    if (!this.underway.stages.endWithLeg) await this.noteProgress();
  }

  /** Keeps only the account of a leg that has ended: a loop may have many, each with the whole conversation. */
  #keepAccount(running: RunningLeg): void {
    this.legs[this.legs.indexOf(running)] = new EndedLeg(running);
    if (running.leg !== this.attemptLog.firstLeg) running.leg.dropPlan();
  }
}

interface MeasuredLeg {
  readonly request: Pick<GenerationRequest, 'items' | 'tools'>;
  readonly candidate: Candidate;
  readonly prompt: MeasuredPrompt;
}

/** Abort reason of a leg that its stage, or the end of the answer, cancels. */
const GIVEN_UP = new Error('the leg was given up');

/** A leg that could not begin: no endpoint takes it, or nothing could be recorded. */
function failedLeg({ models }: GenerationRequest, wish: LegWish, atMs: number): Leg {
  const requested = models[0] ?? '';
  const leg = new Leg(planWithoutCandidates(requested), wish);
  leg.startedAtMs = atMs;
  leg.endedAtMs = atMs;
  leg.end = { status: 'failed', usage: NO_USAGE, bill: FREE, pricedAtMs: 0, serviceTier: undefined };
  return leg;
}

function isMain({ kind = 'main' }: LegWish): boolean {
  return kind === 'main';
}

function shortageOf({ scope, window }: Refusal): string {
  const limit = scope === 'account' ? 'balance of the account' : `${window} limit of the ${scope}`;
  return `What is left of the ${limit} does not pay for the next model call: the answer ends here`;
}

/** A leg that is open at the end of its generation was cut off by a stage or by the caller. */
function statusOf(end: AnswerEnd): LegStatus {
  if (end === 'whole') return 'completed';
  return typeof end === 'string' ? 'cancelled' : 'failed';
}

function terminalIn(batch: EventBatch) {
  const at = terminalIndex(batch);
  return at === -1 ? undefined : terminalOf(batch[at] as Event);
}
