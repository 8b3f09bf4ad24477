import type { Amount } from '../../ir/amount.ts';
import type { EventBatch } from '../../ir/events.ts';
import type { RoutingMetadata } from '../../ir/metadata.ts';
import type { Result } from '../../ir/result.ts';
import type { Bill } from '../../ir/usage.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import { plusWriteOffs } from '../../ports/money/write-offs.ts';
import { amountOf } from '../leg/bill-generation.ts';
import type { AnswerEnd, LegAccount, UsedSoFar } from '../leg/leg-account.ts';
import type { LegSurroundings } from '../leg/leg-dependencies.ts';
import { type EndedLeg, RunningLeg } from '../leg/running-leg.ts';
import { UpstreamReading } from '../leg/upstream-reading.ts';
import { accountOf, type LegSoFar } from '../record/account.ts';
import type { AttemptLog } from '../record/attempt-log.ts';
import { type GenerationTimes, progressRow, settledRow } from '../record/generation-row.ts';
import { refusalOfGeneration } from '../record/refused-row.ts';
import { type SettleDependencies, type Settlement, unrecorded } from '../record/settle.ts';
import { toldTraceOf } from '../request/told-trace.ts';
import type { AnswerDependencies, AnswerState } from './answer-dependencies.ts';
import { Checkpoints } from './checkpoints.ts';
import { metadataOf, plannedGeneration, servedBy, type Underway } from './underway.ts';

/**
 * Characters of a stream that are kept to count tokens if the upstream reports no usage: more than most answers have.
 * Longer answers are sampled beyond this, so that an endless one cannot fill the memory.
 */
const KEPT_CHARACTERS = 16_384;

/** One generation while it is answered: its settlement and its account in the ledger. */
export abstract class Answering implements SettleDependencies {
  readonly attemptLog: AttemptLog;
  readonly reading: UpstreamReading;
  protected readonly underway: Underway;
  protected readonly dependencies: AnswerDependencies;
  protected readonly surroundings: LegSurroundings;
  protected readonly checkpoints: Checkpoints;
  /** All legs that have begun, in order. */
  protected readonly legs: (RunningLeg | EndedLeg)[] = [];
  /** What ended legs may cost beyond their charges. */
  protected uncharged: LegAccount['uncharged'];
  readonly #state: AnswerState;
  readonly #started: number;
  #firstContentMs: number | undefined;

  constructor(underway: Underway, dependencies: AnswerDependencies, state: AnswerState) {
    const { input, settings, attemptLog } = underway;
    this.attemptLog = attemptLog;
    this.underway = underway;
    this.dependencies = dependencies;
    this.#state = state;
    this.reading = new UpstreamReading(input.signal, state.drains, input.caller.key.hash, this.legs);
    const noteProgress = () => this.noteProgress();
    underway.reservation.noteProgress = noteProgress;
    this.surroundings = {
      input,
      settings,
      reading: this.reading,
      signal: this.reading.signal,
      reservation: underway.reservation,
      dependencies,
      state,
      toldTrace: toldTraceOf(input, underway.request, settings),
    };
    this.checkpoints = new Checkpoints(settings.checkpointMs, noteProgress);
    // Times count from the arrival of the request.
    this.#started =
      dependencies.clock.monotonic() - Math.max(0, dependencies.clock.now() - input.acceptedAtMs);
  }

  /** The events of the answer, from the first to its end. */
  abstract flow(): Flow<EventBatch>;

  abstract watch(batch: EventBatch, isLast: boolean): void;

  abstract mayGoOn(): boolean;

  abstract account(result: Result, end: AnswerEnd): LegAccount | Promise<LegAccount>;

  /** True if no leg called an upstream, no tool ran and nothing was charged: no record is made. */
  protected get isNothing(): boolean {
    const { lastCalled, charges, toolCalls } = this.attemptLog;
    return lastCalled === undefined && charges.length + toolCalls.length === 0;
  }

  /** Ends the legs that end with the generation itself. */
  protected abstract concludeLegs(settlement: Settlement): void;

  metadata(outcome: 'served' | 'failed'): RoutingMetadata | undefined {
    return metadataOf(this.underway, outcome);
  }

  /** A whole answer, and one that a stage, the content store or a reader of content needs, is kept whole. */
  get keptCharacters(): number {
    const { request, input, stages } = this.underway;
    const { isObservabilityIoLoggingEnabled, hasContentReaders } = input.caller.workspace;
    const isShown =
      !request.stream || isObservabilityIoLoggingEnabled || hasContentReaders || stages.needsWholeAnswer;
    return isShown ? Number.POSITIVE_INFINITY : KEPT_CHARACTERS;
  }

  /** Closes the account: releases the reservation, charges the usage, and records both. */
  async record(settlement: Settlement): Promise<Bill> {
    const { ledger, clock, onSettled, onUnrecorded, refusals } = this.dependencies;
    const { input, content } = this.underway;
    const generation = plannedGeneration(this.underway);
    try {
      this.reading.close();
      this.underway.reservation.close();
      this.concludeLegs(settlement);
      this.underway.request.watch?.ended();
      this.checkpoints.close();
      if (this.isNothing) {
        await ledger.void(input.generationId, clock.now());
        onUnrecorded(generation, settlement);
        const { outcome, error } = settlement;
        if (outcome === 'failed') refusals?.note(refusalOfGeneration(generation, settlement), error);
        return settlement.bill;
      }
      const times: GenerationTimes = { firstContentMs: this.#firstContentMs, endMs: this.#elapsed() };
      const exceededBy = this.legs.find((leg) => leg.exceededBy !== undefined)?.exceededBy;
      const cost = this.#used(settlement);
      const { reservation } = this.underway;
      const used = reservation.withinMax(cost);
      const beyond = { nanos: cost.creditNanos - used.creditNanos, cause: exceededBy ?? 'output' } as const;
      const uncharged = plusWriteOffs(settlement.uncharged, reservation.writeOffs);
      const { charge } = await ledger.settle(input.generationId, {
        used,
        exceededBy,
        uncharged: beyond.nanos > 0n ? plusWriteOffs(uncharged, [beyond]) : uncharged,
        row: settledRow(generation, settlement, times, reservation.reserved.creditNanos),
        atMs: clock.now(),
      });
      const bill = { ...settlement.bill, totalNanos: charge.creditNanos };
      onSettled(generation, { ...settlement, bill }, times);
      if (settlement.outcome === 'finished') this.#showStages(settlement.result);
      return bill;
    } catch (error) {
      if (error instanceof LedgerUnavailable) onUnrecorded(generation, unrecorded(settlement, error));
      throw error;
    } finally {
      this.#state.open.leave();
      void content.close();
    }
  }

  /** Writes a checkpoint of the progress, for the case that the process ends. */
  protected async noteProgress(): Promise<void> {
    const { ledger, clock } = this.dependencies;
    const counted = new Map<RunningLeg | EndedLeg, UsedSoFar>();
    const open = this.legs.filter(isOpen);
    await Promise.all(open.map(async (each) => counted.set(each, await each.soFar())));
    // Legs may have ended while others were counted. Nothing is awaited from here on, so that no checkpoint has less
    // than an earlier one.
    const legs = this.legs.flatMap((each): LegSoFar[] => {
      const { leg } = each;
      const used = leg.end ?? counted.get(each);
      return used === undefined ? [] : [{ leg, status: 'failed', ...used }];
    });
    const { usage, bill, used } = accountOf(legs, this.attemptLog.charges);
    const { reservation } = this.underway;
    let uncharged = plusWriteOffs(this.uncharged, reservation.writeOffs);
    for (const each of this.legs) if (isOpen(each)) uncharged = plusWriteOffs(uncharged, each.lostSoFar);
    await ledger.checkpoint(this.underway.input.generationId, {
      used: reservation.withinMax(used),
      row: progressRow(plannedGeneration(this.underway), { usage, bill, uncharged }, legs),
      atMs: clock.now(),
    });
  }

  protected noteContent(): void {
    this.#firstContentMs ??= this.#elapsed();
  }

  protected get hasContent(): boolean {
    return this.#firstContentMs !== undefined;
  }

  /** Nearly always there is one leg, and its bill is the sum. */
  #used({ bill }: Settlement): Amount {
    const { legs, charges } = this.attemptLog;
    if (legs.length === 1 && charges.length === 0) return amountOf(bill);
    return accountOf(this.endedLegs(), charges).used;
  }

  /** Legs with their usage and bill, as far as they have ended. */
  protected endedLegs(): LegSoFar[] {
    return this.legs.flatMap(({ leg }) => (leg.end === undefined ? [] : [{ leg, ...leg.end }]));
  }

  #showStages(result: Result): void {
    const { stages, attemptLog } = this.underway;
    if (stages.isEmpty || attemptLog.selected === undefined) return;
    stages.after({ result, ...servedBy(attemptLog.selected) });
  }

  #elapsed(): number {
    return this.dependencies.clock.monotonic() - this.#started;
  }
}

function isOpen(each: RunningLeg | EndedLeg): each is RunningLeg {
  return each instanceof RunningLeg && each.leg.end === undefined;
}
