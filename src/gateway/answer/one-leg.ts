import { type EventBatch, hasContent } from '../../ir/events.ts';
import type { Result } from '../../ir/result.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import type { Admission } from '../admission/admission.ts';
import { Attempts } from '../leg/attempt.ts';
import type { AnswerEnd, LegAccount } from '../leg/leg-account.ts';
import { RunningLeg } from '../leg/running-leg.ts';
import { withOwnWork } from '../record/account.ts';
import { LEG_STATUSES, type Settlement } from '../record/settle.ts';
import type { AnswerDependencies, AnswerState } from './answer-dependencies.ts';
import { Answering } from './answering.ts';
import type { Underway } from './underway.ts';

/** A generation without stages around its leg: the answer of its only leg is folded and counted once. */
export class OneLeg extends Answering {
  readonly #leg: RunningLeg;

  constructor(
    underway: Underway,
    admission: Admission,
    dependencies: AnswerDependencies,
    state: AnswerState,
  ) {
    super(underway, dependencies, state);
    const { input, settings, request, prompt, attemptLog } = underway;
    const { acceptedAtMs: pricedAtMs } = input;
    const { attempts: limits } = settings;
    this.#leg = new RunningLeg(
      {
        leg: attemptLog.firstLeg,
        request,
        prompt,
        admission,
        limits,
        pricedAtMs,
        mostNanos: () => underway.reservation.mostFor(admission.reserved),
      },
      this.surroundings,
    );
    this.legs.push(this.#leg);
  }

  override flow(): Flow<EventBatch> {
    return new Attempts(this.#leg);
  }

  /** Meters a batch. The last batch makes no checkpoint if the account can be closed at once. */
  override watch(batch: EventBatch, isLast: boolean): void {
    const leg = this.#leg;
    leg.watch(batch);
    if (!isLast || !leg.isReported) this.checkpoints.passed(leg.uncountedTokens, leg.isReported);
    if (!this.hasContent && hasContent(batch)) this.noteContent();
  }

  override mayGoOn(): boolean {
    return this.#leg.mayGoOn();
  }

  override account(result: Result, end: AnswerEnd): LegAccount | Promise<LegAccount> {
    const account = this.#leg.account(result, end);
    if (this.attemptLog.notes.length === 0) return account;
    const withWork = (closed: LegAccount) => ({
      ...closed,
      usage: withOwnWork(closed.usage, this.attemptLog),
    });
    return account instanceof Promise ? account.then(withWork) : withWork(account);
  }

  protected override concludeLegs(settlement: Settlement): void {
    const { outcome, result, error } = settlement;
    this.#leg.conclude(settlement, LEG_STATUSES[outcome], result, error);
  }
}
