import { createHmac } from 'node:crypto';
import type { Credential } from '../catalog/credential.ts';
import { tierOf } from '../catalog/endpoint-tier.ts';
import { type EventBatch, hasContent } from '../ir/events.ts';
import type { RoutingMetadata } from '../ir/metadata.ts';
import type { Result } from '../ir/result.ts';
import type { Bill, Usage } from '../ir/usage.ts';
import type { Clock } from '../kit/ids.ts';
import { isInTime } from '../kit/is-in-time.ts';
import type { Ledger, WriteOffCause } from '../ports/ledger.ts';
import type { Candidate } from '../routing/candidate.ts';
import type { Health } from '../routing/health/health.ts';
import type { CallUpstream } from '../upstream/upstream.ts';
import type { Admission } from './admission/admission.ts';
import type { LearntAnswer, LearntLengths } from './admission/learnt-lengths.ts';
import { type AttemptTools, attemptCandidates } from './attempt.ts';
import { amountOf, type BillingFacts, billGeneration } from './bill-generation.ts';
import { CHECKPOINT_TOKENS, Checkpoints } from './checkpoints.ts';
import { conclude, type RoutingMemory } from './conclude.ts';
import type { CredentialOpener } from './credentials.ts';
import { countPrompt, estimateUsage, type Prompt } from './estimate.ts';
import { type GenerationTimes, type PlannedGeneration, progressRow, settledRow } from './generation-row.ts';
import { countInputImages } from './input-images.ts';
import type { AttemptLimits } from './itinerary.ts';
import { type Journey, routingMetadata } from './journey.ts';
import { Meter } from './meter.ts';
import type { OpenWork } from './open-work.ts';
import { plausibleUsage } from './plausible-usage.ts';
import {
  type PassingTools,
  type SettledAnswer,
  type Settlement,
  type SettleTools,
  settleAnswer,
} from './settle.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { Underway } from './underway.ts';
import { type Drains, UpstreamReading } from './upstream-reading.ts';

/** How long a checkpoint waits for an exact count, milliseconds. */
const COUNT_PATIENCE_MS = 200;

/**
 * Characters of a stream that are kept to be counted where its upstream did not do that: more than most answers have. A longer
 * one, or one that never ends, must not fill the memory: of the rest there is a sample.
 */
const KEPT_CHARACTERS = 16_384;

/** What answering is built from. */
export interface AnswerParts {
  readonly callUpstream: CallUpstream;
  readonly tokenizer: Tokenizer;
  readonly ledger: Ledger;
  readonly health: Health;
  readonly memory: RoutingMemory;
  /** Secret that end-user ids are hashed with. */
  readonly userHashKey: Buffer;
  /** Told of every generation that has ended, once its account is closed. Must not throw. */
  readonly tell: (generation: PlannedGeneration, settlement: Settlement, times: GenerationTimes) => void;
  readonly clock: Clock;
}

/** What all answers of a gateway share. */
export interface AnswerState {
  readonly credentials: CredentialOpener;
  readonly learnt: LearntLengths;
  readonly drains: Drains;
  readonly open: OpenWork;
}

/** The answer to an admitted request as a lazy pipeline: attempts inside stages inside settlement. */
export function answerRequest(
  underway: Underway,
  admission: Admission,
  parts: AnswerParts,
  state: AnswerState,
): SettledAnswer {
  const { request, journey, stages } = underway;
  const answering = new Answering(underway, admission, parts, state);
  state.open.enter();
  const pipeline = stages.around((staged) => attemptCandidates(staged, journey, answering));
  return settleAnswer(pipeline(request), answering);
}

/** Of shorter prompts most is what the upstream puts around them, tokens. */
const TELLING_PROMPT = 500;

/** A prompt with pictures, files or search results says nothing about how its text is counted. */
function learntFrom({ usage }: Settlement, { countedPrompt = 0 }: Admission, prompt: Prompt): LearntAnswer {
  const isKnown =
    usage.source === 'measured' &&
    usage.webSearchRequests === 0 &&
    countedPrompt >= TELLING_PROMPT &&
    prompt.worst.images + prompt.worst.documents === 0;
  return {
    outputTokens: usage.outputTokens,
    ...(isKnown && { promptRatio: usage.inputTokens / countedPrompt }),
  };
}

/** The routing metadata of this moment, when the caller asked for it. */
export function metadataOf(
  { input, journey, snapshot }: Underway,
  outcome: 'served' | 'failed',
): RoutingMetadata | undefined {
  return input.wantsMetadata ? routingMetadata(journey, snapshot.region, outcome) : undefined;
}

/** Who serves, as replies say it. */
export function servedBy({ model, endpoint }: Candidate) {
  return {
    model: model.id,
    provider: endpoint.provider.name,
    serviceTier: tierOf(endpoint) ?? 'default',
  };
}

export function hashUser(key: Buffer, accountId: string, id: string): string {
  return createHmac('sha256', key).update(accountId).update('\0').update(id).digest('hex');
}

/** A generation as rows are made from. */
export function plannedGeneration({ input, request, journey, snapshot }: Underway): PlannedGeneration {
  return { input, request, journey, region: snapshot.region };
}

function billsAbandoned(journey: Journey): boolean {
  const called = journey.selected ?? journey.lastCalled;
  return called?.endpoint.provider.quirks?.billsAbandoned === true;
}

/** One request while it is answered: what it is attempted and settled with, and its account in the ledger. */
class Answering implements AttemptTools, SettleTools, PassingTools {
  readonly journey: Journey;
  readonly admission: Admission;
  readonly reading: UpstreamReading;
  readonly billing: BillingFacts;
  readonly #underway: Underway;
  readonly #parts: AnswerParts;
  readonly #state: AnswerState;
  readonly #meter = new Meter((reported) => this.#plausible(reported));
  readonly #checkpoints: Checkpoints;
  readonly #started: number;
  #firstContentMs: number | undefined;
  #promptTokens: number | undefined;
  #counting: Promise<void> | undefined;
  #showPassed: (() => void) | undefined;

  constructor(underway: Underway, admission: Admission, parts: AnswerParts, state: AnswerState) {
    const { input, request, snapshot, journey } = underway;
    this.journey = journey;
    this.admission = admission;
    this.reading = new UpstreamReading(input.signal, state.drains, () => billsAbandoned(journey));
    this.#underway = underway;
    this.#parts = parts;
    this.#state = state;
    this.#checkpoints = new Checkpoints(snapshot.checkpointMs, () => this.#note());
    // Times count from the moment at which the request came in.
    this.#started = parts.clock.monotonic() - Math.max(0, parts.clock.now() - input.acceptedAtMs);
    this.billing = {
      acceptedAtMs: input.acceptedAtMs,
      inputImages: countInputImages(request),
      ownCredentialFee: snapshot.ownCredentialFee,
    };
  }

  get callUpstream(): CallUpstream {
    return this.#parts.callUpstream;
  }

  get health(): Health {
    return this.#parts.health;
  }

  get betas(): string | undefined {
    return this.#underway.input.betas;
  }

  get signal(): AbortSignal {
    return this.reading.signal;
  }

  get limits(): AttemptLimits {
    return this.#underway.snapshot.attempts;
  }

  credentialOf(candidate: Candidate): Credential | undefined {
    return this.#state.credentials.open(candidate);
  }

  /** Is handed on without this. */
  readonly hashUser = (id: string): string =>
    hashUser(this.#parts.userHashKey, this.#underway.input.caller.accountId, id);

  isAbandoned(): boolean {
    return this.reading.isAbandoned;
  }

  monotonic(): number {
    return this.#parts.clock.monotonic();
  }

  metadata(outcome: 'served' | 'failed'): RoutingMetadata | undefined {
    return metadataOf(this.#underway, outcome);
  }

  believe(reported: Usage | undefined): Usage | undefined {
    const usage = this.#plausible(reported);
    // What was said in the middle is not what all of it is.
    return usage?.source === 'measured' && this.#meter.isOutdated ? { ...usage, source: 'estimated' } : usage;
  }

  #plausible(reported: Usage | undefined): Usage | undefined {
    return plausibleUsage(reported, this.#underway.request, this.journey.selected?.endpoint);
  }

  /** Looks at what passes. Of the last of it no progress is noted where its account can be closed at once. */
  watch(batch: EventBatch, isLast: boolean): void {
    this.#meter.push(batch);
    if (!isLast || !this.#meter.isReported)
      this.#checkpoints.passed(this.#meter.uncountedTokens, this.#meter.isReported);
    if (this.#firstContentMs === undefined && hasContent(batch)) this.#firstContentMs = this.#elapsed();
  }

  /** Where money is short, every piece is looked at before it is let go. */
  get passing(): PassingTools | undefined {
    return this.admission.isTight ? undefined : this;
  }

  get room(): number {
    return Math.max(1, CHECKPOINT_TOKENS - this.#meter.uncountedTokens);
  }

  whenAsked(show: () => void): void {
    this.#showPassed = show;
  }

  /** False: there is no money for more. */
  mayGoOn(): boolean {
    if (!this.admission.isTight) return true;
    const { selected } = this.journey;
    return selected === undefined || this.admission.mayGoOn(selected, this.#meter.outputTokens);
  }

  /** A whole answer is shown whole, and so is one that is kept. */
  get keptCharacters(): number {
    const { request, input, stages } = this.#underway;
    const isShown =
      !request.stream || input.caller.workspace.isObservabilityIoLoggingEnabled || stages.needsWholeAnswer;
    return isShown ? Number.POSITIVE_INFINITY : KEPT_CHARACTERS;
  }

  /** Usage of an answer whose upstream did not say it. */
  async estimate(result: Result): Promise<Usage> {
    const usage = await estimateUsage(this.#underway.request, result, this.#parts.tokenizer);
    const counted = {
      ...usage,
      outputTokens: Math.max(usage.outputTokens, this.#meter.pieces),
      // Tokens that cannot be true say nothing against the searches beside them.
      webSearchRequests: Math.max(usage.webSearchRequests, result.usage?.webSearchRequests ?? 0),
    };
    // Searches that were not asked for are not charged, whoever counted them.
    return this.#plausible(counted) ?? { ...counted, webSearchRequests: 0 };
  }

  /** Closes the account: what was reserved is let go, what was used is charged, and that is recorded. */
  async record(settlement: Settlement): Promise<Bill> {
    const { ledger, clock, tell, memory } = this.#parts;
    const { input, request, prompt, content } = this.#underway;
    const { journey, admission } = this;
    try {
      this.reading.close();
      conclude(request, journey, settlement, memory);
      if (settlement.outcome === 'finished')
        this.#state.learnt.learn(admission.answers, learntFrom(settlement, admission, prompt));
      this.#checkpoints.close();
      if (journey.lastCalled === undefined) {
        await ledger.void(input.generationId, clock.now());
        return settlement.bill;
      }
      const generation = plannedGeneration(this.#underway);
      const times = { firstContentMs: this.#firstContentMs, endMs: this.#elapsed() };
      const { charge } = await ledger.settle(input.generationId, {
        used: amountOf(settlement.bill),
        exceededBy: this.#exceededBy(settlement),
        disputedNanos: settlement.disputedNanos,
        row: settledRow(generation, settlement, times),
        atMs: clock.now(),
      });
      const bill = { ...settlement.bill, totalNanos: charge.creditNanos };
      tell(generation, { ...settlement, bill }, times);
      if (settlement.outcome === 'finished') this.#showStages(settlement.result);
      return bill;
    } finally {
      this.#state.open.leave();
      void content.close();
    }
  }

  #showStages(result: Result): void {
    const { stages, journey } = this.#underway;
    if (stages.isEmpty || journey.selected === undefined) return;
    stages.after({ result, ...servedBy(journey.selected) });
  }

  #exceededBy({ usage, bill }: Settlement): WriteOffCause | undefined {
    const { selected } = this.journey;
    const isExceeded = bill.totalNanos > this.admission.reserved.creditNanos;
    return isExceeded && selected !== undefined ? this.admission.exceededBy(selected, usage) : undefined;
  }

  async #note(): Promise<void> {
    const { ledger, clock } = this.#parts;
    this.#showPassed?.();
    // Whoever counts may be busy, or only just starting: then what is known about must do.
    if (!this.#meter.isReported) await isInTime(this.#count(), COUNT_PATIENCE_MS);
    const usage = this.#meter.usage(this.#promptTokens ?? this.#underway.prompt.usualTokens);
    const bill = billGeneration(this.journey.selected, usage, this.billing);
    await ledger.checkpoint(this.#underway.input.generationId, {
      used: amountOf(bill),
      row: progressRow(plannedGeneration(this.#underway), { usage, bill }),
      atMs: clock.now(),
    });
  }

  /** Counts what has come in, and the prompt once. While that is under way there is nothing else to count. */
  #count(): Promise<void> {
    this.#counting ??= this.#countNow().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countNow(): Promise<void> {
    const { tokenizer } = this.#parts;
    await this.#meter.count((text) => tokenizer.count([text]));
    if (this.#meter.knowsPrompt) return;
    this.#promptTokens ??=
      this.admission.countedPrompt ?? (await countPrompt(this.#underway.request, tokenizer));
  }

  #elapsed(): number {
    return this.#parts.clock.monotonic() - this.#started;
  }
}
