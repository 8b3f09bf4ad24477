import { NOTHING } from '../../ir/amount.ts';
import { GatewayError, toGatewayError } from '../../ir/errors.ts';
import { type Event, type EventBatch, hasContent, terminalIndex, terminalOf } from '../../ir/events.ts';
import { Fold } from '../../ir/fold.ts';
import type { LegKind, LegStatus } from '../../ir/leg.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import type { AnswerFlow } from '../../ir/text-lane.ts';
import type { Refusal } from '../../ports/ledger.ts';
import { siteOf } from '../../routing/candidate.ts';
import type { LegWish } from '../../stages/stage.ts';
import { Prompt } from '../../tokens/estimate.ts';
import { Admission } from '../admission/admission.ts';
import { admitFurther } from '../admission/admit.ts';
import { attemptCandidates } from '../leg/attempt.ts';
import type { AttemptLimits } from '../leg/itinerary.ts';
import { Leg } from '../leg/leg.ts';
import { type Account, type AnswerEnd, plusUncharged } from '../leg/leg-account.ts';
import { RunningLeg } from '../leg/running-leg.ts';
import type { Plan } from '../plan.ts';
import { accountOf } from './account.ts';
import type { AnswerParts, AnswerState } from './answer-parts.ts';
import { Answering } from './answering.ts';
import { acceptedRow } from './generation-row.ts';
import { OpenItems } from './open-items.ts';
import { plannedGeneration, type Underway } from './underway.ts';

/** The end of a leg that was cut off for want of money. */
const CUT_SHORT = { type: 'finish', reason: 'length' } as const;

/** The end of a generation whose next leg cannot be paid for. */
const OUT_OF_MONEY = { type: 'finish', reason: 'budget' } as const;

/**
 * A generation whose legs are run by stages: one, several, one after the other or at the same time. Each leg has an account of
 * its own, which is closed and written down when the leg ends; the generation's is their sum.
 */
export class SeveralLegs extends Answering {
  /** What the first leg was admitted with, until one begins. */
  #first: Admission | undefined;
  readonly #open = new Map<RunningLeg, OpenLeg>();
  /** Accounts of legs that are being closed, or were. */
  readonly #closing: Promise<void>[] = [];
  /** The answer has ended: no further leg begins. */
  #isOver = false;
  #uncharged: Account['uncharged'];

  constructor(underway: Underway, admission: Admission, parts: AnswerParts, state: AnswerState) {
    super(underway, parts, state);
    this.#first = admission;
    underway.reservation.noteProgress = () => this.noteProgress();
  }

  override flow(): AnswerFlow {
    const { stages, request } = this.underway;
    const pipeline = stages.around((staged, wish) => this.#run(staged, wish));
    return pipeline(request)[Symbol.asyncIterator]();
  }

  /** Legs are counted where they come in: of what stages let pass only the first content matters. */
  override watch(batch: EventBatch): void {
    if (!this.hasContent && hasContent(batch)) this.noteContent();
  }

  override mayGoOn(): boolean {
    return true;
  }

  override get passing(): undefined {
    return undefined;
  }

  /** Legs that are still open end with the answer. */
  override async account(_: Result, end: AnswerEnd): Promise<Account> {
    this.#isOver = true;
    for (const [running, { flow }] of [...this.#open]) {
      this.#close(running, end === 'whole' ? 'cut' : end).catch(() => {});
      void flow.return?.();
    }
    await Promise.all(this.#closing);
    const ended = this.running.flatMap(({ leg }) => (leg.end === undefined ? [] : [{ leg, ...leg.end }]));
    const { usage, bill } = accountOf(ended, this.journey.charges);
    return { usage, bill, uncharged: this.#uncharged };
  }

  protected override concludeLegs(): void {
    // Each was concluded when it ended.
  }

  /** Runs one leg. What it says is counted and its account closed before its last event is let go. */
  async *#run(request: GenerationRequest, wish: LegWish = {}): AsyncGenerator<EventBatch, void, undefined> {
    const isFirst = this.#first !== undefined;
    const running = await this.#begin(request, wish.kind ?? 'main').catch((error: unknown) => {
      if (isFirst) throw error;
      return toGatewayError(error);
    });
    if (running instanceof GatewayError) {
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
    const fold = new Fold(this.keptCharacters);
    const openItems = new OpenItems();
    const flow = attemptCandidates(request, running.leg, running);
    this.#open.set(running, { fold, flow });
    try {
      for await (const batch of flow) {
        fold.pushAll(batch);
        running.watch(batch);
        openItems.push(batch);
        const terminal = terminalIn(batch);
        if (terminal !== undefined) {
          await this.#close(running, terminal.type === 'failure' ? terminal.error : 'whole');
          yield batch;
          return;
        }
        this.checkpoints.passed(running.uncountedTokens, running.isReported);
        if (!running.mayGoOn()) {
          const ending: Event[] = [...openItems.ending(), CUT_SHORT];
          fold.pushAll(ending);
          await this.#close(running, 'cut');
          yield [...batch, ...ending];
          return;
        }
        yield batch;
      }
    } catch (error) {
      const failure = toGatewayError(error);
      const { isAbandoned } = this.reading;
      await this.#close(running, isAbandoned ? 'cut' : failure);
      // Before anything was said the generation fails as a whole; later its stream does.
      if (isFirst) throw error;
      // The caller has left: the answer ends without a terminal event.
      if (!isAbandoned) yield [{ type: 'failure', error: failure }];
    } finally {
      await this.#close(running, 'cut');
    }
  }

  /** The leg, admitted; or the limit that does not pay for it. */
  async #begin(request: GenerationRequest, kind: LegKind): Promise<RunningLeg | Refusal> {
    const { input, snapshot } = this.underway;
    this.#assertOpen();
    const planned = this.#first;
    this.#first = undefined;
    if (planned !== undefined && request === this.underway.request && kind === 'main') {
      const { journey, prompt } = this.underway;
      const { acceptedAtMs: pricedAtMs } = input;
      const { attempts: limits } = snapshot;
      const { firstLeg: leg } = journey;
      return this.#running(
        new RunningLeg({ leg, request, prompt, admission: planned, limits, pricedAtMs }, this.surroundings),
      );
    }
    if (planned !== undefined) this.underway.reservation.release(planned.reserved, NOTHING);
    return this.#beginFurther(request, kind);
  }

  async #beginFurther(request: GenerationRequest, kind: LegKind): Promise<RunningLeg | Refusal> {
    const { input, snapshot, reservation, planFurther } = this.underway;
    const { tokenizer, clock } = this.parts;
    const { ownCredentialFee, basePath } = snapshot;
    const { learnt } = this.surroundings.state;
    const prompt = new Prompt(request);
    const plan = preferring(
      await planFurther(request, prompt),
      kind === 'main' ? this.#servedLast() : undefined,
    );
    const pricedAtMs = clock.now();
    const row = () => acceptedRow(plannedGeneration(this.underway));
    const admission = await admitFurther(
      { input, request, prompt, plan, pricedAtMs, row },
      { reservation, tokenizer, learnt, ownCredentialFee, basePath },
    );
    if (!(admission instanceof Admission)) return admission;
    this.#assertOpen();
    const leg = new Leg(plan, kind);
    this.journey.add(leg);
    const limits = this.#limitsLeft();
    return this.#running(
      new RunningLeg({ leg, request, prompt, admission, limits, pricedAtMs }, this.surroundings),
    );
  }

  /** Nothing is begun that would be in no account. */
  #assertOpen(): void {
    const { signal, isAbandoned } = this.reading;
    if (signal.aborted) throw signal.reason;
    if (isAbandoned || this.#isOver)
      throw new GatewayError('server', 'A leg was asked for after the end of its answer');
  }

  #running(running: RunningLeg): RunningLeg {
    this.running.push(running);
    return running;
  }

  #servedLast(): Leg | undefined {
    return this.journey.legs.findLast(({ kind, selected }) => kind === 'main' && selected !== undefined);
  }

  /** Every leg may make one call; the further ones that a request may make are for all of its legs together. */
  #limitsLeft(): AttemptLimits {
    const { perModel, perRequest } = this.underway.snapshot.attempts;
    const retries = this.journey.legs.reduce((sum, { calls }) => sum + Math.max(0, calls.length - 1), 0);
    return { perModel, perRequest: Math.max(1, perRequest - retries) };
  }

  /** Closes the account of a leg, once, and writes it down. */
  async #close(running: RunningLeg, end: AnswerEnd): Promise<void> {
    const open = this.#open.get(running);
    if (open === undefined) return;
    this.#open.delete(running);
    const closing = this.#settle(running, open.fold.result(), end);
    this.#closing.push(closing);
    await closing;
  }

  async #settle(running: RunningLeg, result: Result, end: AnswerEnd): Promise<void> {
    const account = await running.account(result, end);
    running.conclude(account, statusOf(end), result, typeof end === 'string' ? undefined : end);
    this.#uncharged = plusUncharged(this.#uncharged, account.uncharged);
    this.underway.reservation.release(running.admission.reserved, running.spent);
    await this.noteProgress();
  }
}

/** What a leg has said, and where the rest of it comes from. */
interface OpenLeg {
  readonly fold: Fold;
  readonly flow: AnswerFlow;
}

function shortageOf({ scope, window }: Refusal): string {
  const limit = scope === 'account' ? 'balance of the account' : `${window} limit of the ${scope}`;
  return `What is left of the ${limit} does not pay for the next model call: the answer ends here`;
}

/** A leg that its generation outlived was cut off by a stage or by the caller. */
function statusOf(end: AnswerEnd): LegStatus {
  if (end === 'whole') return 'completed';
  return end === 'cut' ? 'cancelled' : 'failed';
}

/** A plan whose first candidate is the one that served before, where it is among them. */
function preferring(plan: Plan, before: Leg | undefined): Plan {
  const served = before?.selected;
  if (served === undefined) return plan;
  const site = siteOf(served.endpoint, served.access);
  const isSame = ({ model, endpoint, access }: Plan['candidates'][number]) =>
    model.id === served.model.id && siteOf(endpoint, access) === site;
  const preferred = plan.candidates.filter(isSame);
  if (preferred.length === 0) return plan;
  return { ...plan, candidates: [...preferred, ...plan.candidates.filter((each) => !isSame(each))] };
}

function terminalIn(batch: EventBatch) {
  const at = terminalIndex(batch);
  return at === -1 ? undefined : terminalOf(batch[at] as Event);
}
