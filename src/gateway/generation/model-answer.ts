import type { ReplyContext } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { LegStatus } from '../../ir/leg.ts';
import type { Result } from '../../ir/result.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { metadataOf, routedError, servedBy, type Underway } from '../answer/underway.ts';
import { modelsOf } from '../plan/plan.ts';
import type { SettledAnswer } from '../record/settle.ts';
import { itemKeeper } from '../request/item-references.ts';
import type { GatewayDependencies } from './gateway-dependencies.ts';
import type { FinishedGeneration, OpenedStream } from './opened-generation.ts';

/** The answer of models to a reserved generation. Pull it at once: pulling runs and settles it. */
export class ModelAnswer {
  readonly #underway: Underway;
  readonly #batches: SettledAnswer;
  readonly #dependencies: Pick<GatewayDependencies, 'clock' | 'items'>;

  constructor(
    underway: Underway,
    batches: SettledAnswer,
    dependencies: Pick<GatewayDependencies, 'clock' | 'items'>,
  ) {
    this.#underway = underway;
    this.#batches = batches;
    this.#dependencies = dependencies;
  }

  async stream(): Promise<OpenedStream> {
    const { timing } = this.#underway.input;
    timing.awaitUpstream();
    try {
      this.#batches.putBack(await this.#batches.next());
    } catch (error) {
      throw routedError(error, this.#underway);
    } finally {
      this.#answered();
    }
    return { context: this.#context(), batches: this.#batches };
  }

  async complete(): Promise<FinishedGeneration> {
    const { timing } = this.#underway.input;
    timing.awaitUpstream();
    let result: Result;
    try {
      result = await this.#batches.whole();
    } catch (error) {
      throw routedError(error, this.#underway);
    } finally {
      this.#answered();
    }
    if (result.failure !== undefined && !this.#encodesFailure()) {
      const { stages } = this.#underway;
      throw stages.explained(result.failure).withRouting(metadataOf(this.#underway, 'failed'));
    }
    return { context: this.#context(), result };
  }

  /** True if the caller gets the partial answer of a failed generation, with the reason of the failure. */
  #encodesFailure(): boolean {
    const { input, attemptLog } = this.#underway;
    const isEncodable = DIALECTS[input.format].inbound.encodesFailedAnswers === true;
    const hasEnded = (status: LegStatus) => attemptLog.legs.some(({ end }) => end?.status === status);
    return isEncodable && hasEnded('completed') && hasEnded('failed');
  }

  /** The endpoint that answers the caller, unless it fails; undefined = a stage has answered without any. */
  #expected(): Candidate | undefined {
    const { attemptLog } = this.#underway;
    const isBegun = attemptLog.legs.some(({ kind }) => kind !== 'main');
    return isBegun ? attemptLog.plan.candidates[0] : undefined;
  }

  #context(): ReplyContext {
    const { input, settings, request, attemptLog } = this.#underway;
    const { clock, items } = this.#dependencies;
    // A stream may begin with what other models write, before one answers the caller.
    const selected = attemptLog.selected ?? this.#expected();
    return {
      vendor: settings.vendor,
      request,
      generationId: input.generationId,
      createdAtMs: input.acceptedAtMs,
      now: () => clock.now(),
      ...(selected === undefined
        ? { model: attemptLog.plan.requested, provider: '', serviceTier: 'default' }
        : servedBy(selected)),
      keepItem: itemKeeper({ input, request, models: () => modelsOf(attemptLog.plan) }, items),
    };
  }

  #answered(): void {
    const { input, attemptLog } = this.#underway;
    input.timing.answered(attemptLog.firstByteMs, attemptLog.waitedMs);
  }
}
