import type { Credential } from '../../catalog/providers/credential.ts';
import { type Amount, NOTHING } from '../../ir/amount.ts';
import type { GatewayError } from '../../ir/errors.ts';
import type { EventBatch } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import type { Usage } from '../../ir/usage.ts';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { WriteOffCause } from '../../ports/ledger.ts';
import type { CallerHealth } from '../../routing/health/health.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { estimateUsage } from '../../tokens/estimate-usage.ts';
import { Meter } from '../../tokens/meter.ts';
import { countPrompt, type Prompt } from '../../tokens/prompt.ts';
import type { CallUpstream } from '../../upstream/upstream.ts';
import type { Admission } from '../admission/admission.ts';
import type { LearntAnswer } from '../admission/learnt-lengths.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import { countInputImages } from '../request/input-images.ts';
import type { AttemptLimits, GatewaySettings } from '../request/settings.ts';
import type { AttemptTools } from './attempt.ts';
import { amountOf, type BillingFacts, billGeneration } from './bill-generation.ts';
import { conclude } from './conclude.ts';
import type { Leg, LegEnd } from './leg.ts';
import type { UsedSoFar } from './leg-account.ts';
import { type Account, type AnswerEnd, type LegAccountFacts, legAccount } from './leg-account.ts';
import { hashUser, type LegParts, type LegState } from './leg-parts.ts';
import { plausibleUsage } from './plausible-usage.ts';
import type { UpstreamReading } from './upstream-reading.ts';

/** How long a checkpoint waits for an exact count, milliseconds. */
const COUNT_PATIENCE_MS = 200;

/** Of shorter prompts most is what the upstream puts around them, tokens. */
const TELLING_PROMPT = 500;

/** A leg that may begin: what is asked, and what is paid for. */
export interface AdmittedLeg {
  readonly leg: Leg;
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly admission: Admission;
  readonly limits: AttemptLimits;
  /** Epoch milliseconds: it is billed at the prices of this moment. */
  readonly pricedAtMs: number;
}

/** What all legs of a generation share. */
export interface LegSurroundings {
  readonly input: GenerationInput;
  readonly settings: GatewaySettings;
  readonly reading: UpstreamReading;
  /** Aborted when the leg's upstream is to stop. */
  readonly signal: AbortSignal;
  readonly parts: LegParts;
  readonly state: LegState;
}

/** One leg while it runs: what it is attempted with, what it has come to so far, and its account in the end. */
export class RunningLeg implements AttemptTools, LegAccountFacts {
  readonly leg: Leg;
  readonly request: GenerationRequest;
  readonly admission: Admission;
  readonly limits: AttemptLimits;
  readonly billing: BillingFacts;
  readonly health: CallerHealth;
  readonly #prompt: Prompt;
  readonly #around: LegSurroundings;
  readonly #meter = new Meter((reported) => this.#plausible(reported));
  #promptTokens: number | undefined;
  #counting: Promise<void> | undefined;

  constructor(
    { leg, request, prompt, admission, limits, pricedAtMs }: AdmittedLeg,
    surroundings: LegSurroundings,
  ) {
    this.leg = leg;
    this.request = request;
    this.admission = admission;
    this.limits = limits;
    this.#prompt = prompt;
    this.#around = surroundings;
    this.health = surroundings.parts.health.forAccount(surroundings.input.caller.accountId);
    this.billing = {
      acceptedAtMs: pricedAtMs,
      inputImages: countInputImages(request),
      byokFee: surroundings.settings.byokFee,
    };
  }

  get callUpstream(): CallUpstream {
    return this.#around.parts.callUpstream;
  }

  get betas(): string | undefined {
    return this.#around.input.betas;
  }

  get accountId(): string {
    return this.#around.input.caller.accountId;
  }

  get replied(): () => Promise<void> {
    return this.#around.input.replied;
  }

  get signal(): AbortSignal {
    return this.#around.signal;
  }

  credentialOf(candidate: Candidate): Credential | undefined {
    return this.#around.state.credentials.open(candidate);
  }

  /** Is handed on without this. */
  readonly hashUser = (id: string): string =>
    hashUser(this.#around.parts.userHashKey, this.#around.input.caller.accountId, id);

  isAbandoned(): boolean {
    return this.#around.reading.isAbandoned;
  }

  monotonic(): number {
    return this.#around.parts.clock.monotonic();
  }

  get selected(): Candidate | undefined {
    return this.leg.selected;
  }

  get called(): Candidate | undefined {
    return this.leg.lastCalled;
  }

  /** Vectors come in parts, each of them an upstream call that is billed. */
  get chargesParts(): boolean {
    return this.request.embedding !== undefined;
  }

  get promptTokens(): number {
    return this.#promptTokens ?? this.admission.countedPrompt ?? this.#prompt.estimatedTokens;
  }

  /** Looks at what passes. */
  watch(batch: EventBatch): void {
    this.#meter.push(batch);
  }

  /** Tokens that were not counted yet, at most. */
  get uncountedTokens(): number {
    return this.#meter.uncountedTokens;
  }

  /** Whether the upstream has said what all of this is. */
  get isReported(): boolean {
    return this.#meter.isReported;
  }

  /** False: there is no money for more. */
  mayGoOn(): boolean {
    const { selected, admission } = this;
    return (
      !admission.isTight || selected === undefined || admission.mayGoOn(selected, this.#meter.outputTokens)
    );
  }

  believe(reported: Usage | undefined): Usage | undefined {
    const usage = this.#plausible(reported);
    // What was said in the middle is not what all of it is.
    return usage?.source === 'measured' && this.#meter.isOutdated ? { ...usage, source: 'estimated' } : usage;
  }

  /** Usage of an answer whose upstream did not say it. */
  async estimate(result: Result): Promise<Usage> {
    const usage = await estimateUsage(this.request, result, this.#around.parts.tokenizer);
    const counted = {
      ...usage,
      outputTokens: Math.max(usage.outputTokens, this.#meter.pieces),
      // Tokens that cannot be true say nothing against the searches beside them.
      webSearchRequests: Math.max(usage.webSearchRequests, result.usage?.webSearchRequests ?? 0),
    };
    // Searches that the request does not allow are not charged, estimated or reported.
    return this.#plausible(counted) ?? { ...counted, webSearchRequests: 0 };
  }

  /** What it has come to. */
  account(result: Result, end: AnswerEnd): Promise<Account> {
    return legAccount(result, end, this);
  }

  /** What it would come to if it ended now. */
  async soFar(): Promise<UsedSoFar> {
    // The tokenizer may be busy or starting: an approximate count then has to do.
    if (!this.#meter.isReported) await isInTime(this.#count(), COUNT_PATIENCE_MS);
    const usage = this.#meter.usage(this.#promptTokens ?? this.#prompt.estimatedTokens);
    return { usage, bill: billGeneration(this.selected, usage, this.billing) };
  }

  /** Ends it, and reports to routing how it went and to admission how long the answer was. */
  conclude({ usage, bill }: Account, status: LegEnd['status'], result: Result, error?: GatewayError): void {
    const { leg, request, admission, billing } = this;
    conclude(request, leg, { status, usage, bill, result, error }, this.#around.parts.memory);
    if (status === 'completed') this.#around.state.learnt.learn(admission.answers, this.#learnt(usage));
    const { acceptedAtMs } = billing;
    leg.end = { status, usage, bill, pricedAtMs: acceptedAtMs, serviceTier: result.finish?.serviceTier };
  }

  /** What it was charged for, once it has ended. */
  get spent(): Amount {
    return this.leg.end === undefined ? NOTHING : amountOf(this.leg.end.bill);
  }

  /** What went beyond what was reserved for it; undefined where nothing did. */
  get exceededBy(): WriteOffCause | undefined {
    const { selected, admission } = this;
    const { end } = this.leg;
    if (end === undefined || selected === undefined) return undefined;
    const isExceeded = end.bill.totalNanos > admission.reserved.creditNanos;
    return isExceeded ? admission.exceededBy(selected, end.usage) : undefined;
  }

  #plausible(reported: Usage | undefined): Usage | undefined {
    return plausibleUsage(reported, this.request, this.selected?.endpoint);
  }

  /** A prompt with pictures, files or search results says nothing about how its text is counted. */
  #learnt(usage: Usage): LearntAnswer {
    const { countedPrompt = 0 } = this.admission;
    const isKnown =
      usage.source === 'measured' &&
      usage.webSearchRequests === 0 &&
      countedPrompt >= TELLING_PROMPT &&
      this.#prompt.worst.images + this.#prompt.worst.documents === 0;
    return {
      outputTokens: usage.outputTokens,
      ...(isKnown && { promptRatio: usage.inputTokens / countedPrompt }),
    };
  }

  /** Counts what has come in, and the prompt once. While that is under way there is nothing else to count. */
  #count(): Promise<void> {
    this.#counting ??= this.#countNow().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countNow(): Promise<void> {
    const { tokenizer } = this.#around.parts;
    await this.#meter.count((text) => tokenizer.count([text]));
    if (this.#meter.knowsPrompt) return;
    this.#promptTokens ??= this.admission.countedPrompt ?? (await countPrompt(this.request, tokenizer));
  }
}
