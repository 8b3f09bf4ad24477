import { FREE } from '../../catalog/prices/bill.ts';
import { effortOf, MIN_BUDGET_TOKENS } from '../../dialects/shared/reasoning/reasoning-effort.ts';
import { type Amount, NOTHING } from '../../ir/amount.ts';
import type { GatewayError } from '../../ir/errors.ts';
import type { EventBatch } from '../../ir/events.ts';
import { Fold } from '../../ir/folding/fold.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { hasOutput, type Result } from '../../ir/result.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { booleanAt } from '../../kit/json/members.ts';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { Nanos } from '../../kit/money.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import { plusWriteOffs, type WriteOff, type WriteOffCause } from '../../ports/money/write-offs.ts';
import type { CallerHealth } from '../../routing/health/health.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { estimateUsage } from '../../tokens/estimate-usage.ts';
import { Meter } from '../../tokens/meter.ts';
import { countPrompt, type Prompt } from '../../tokens/prompt.ts';
import type { UpstreamFailure } from '../../upstream/upstream.ts';
import type { Admission } from '../admission/admission.ts';
import type { MeasuredPrompt } from '../admission/admit.ts';
import type { LearntAnswer } from '../admission/learnt-lengths.ts';
import { USUAL_THINKING } from '../admission/learnt-thoughts.ts';
import { toolsAskedBy, withToolsRun } from '../admission/tools-asked.ts';
import { countInputImages } from '../request/input-images.ts';
import type { AttemptLimits } from '../request/settings.ts';
import type { AttemptedLeg } from './attempt.ts';
import { amountOf, type BillingFacts, billGeneration } from './bill-generation.ts';
import { conclude } from './conclude.ts';
import type { Leg, LegEnd } from './leg.ts';
import type { UsedSoFar } from './leg-account.ts';
import { type AnswerEnd, causeOf, type LegAccount, type LegAccountFacts, legAccount } from './leg-account.ts';
import type { LegSurroundings } from './leg-dependencies.ts';
import { isConceivableUsage, plausibleUsage } from './plausible-usage.ts';

/** Milliseconds that a checkpoint waits for an exact count. */
const COUNT_PATIENCE_MS = 200;

/** Shorter prompts are mostly the upstream's own wrapping; no ratio is learnt from them. */
const MIN_RATIO_PROMPT_TOKENS = 500;

/** A leg that may begin: its request and its reservation. */
export interface AdmittedLeg {
  readonly leg: Leg;
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly admission: Admission;
  readonly limits: AttemptLimits;
  /** Epoch milliseconds: the leg is billed at the prices of this moment. */
  readonly pricedAtMs: number;
  /** What it may cost within the generation's own limit; undefined = there is none. */
  mostNanos(): Nanos | undefined;
}

/** One leg while it runs: what its attempts need, its usage so far, and its account in the end. */
export class RunningLeg implements AttemptedLeg, LegAccountFacts {
  readonly leg: Leg;
  readonly request: GenerationRequest;
  readonly admission: Admission;
  readonly limits: AttemptLimits;
  readonly billing: BillingFacts;
  readonly health: CallerHealth;
  readonly around: LegSurroundings;
  readonly #prompt: Prompt;
  readonly #mostNanos: AdmittedLeg['mostNanos'];
  readonly #meter = new Meter((reported) => this.#plausible(reported));
  #promptTokens: number | undefined;
  #counting: Promise<void> | undefined;
  /** Failed calls that their upstreams may bill. */
  #lost: readonly LostCall[] | undefined;
  /** What dropped answers cost beyond what was charged for them. */
  #dropped: readonly WriteOff[] | undefined;

  constructor(
    { leg, request, prompt, admission, limits, pricedAtMs, mostNanos }: AdmittedLeg,
    around: LegSurroundings,
  ) {
    this.leg = leg;
    this.request = request;
    this.admission = admission;
    this.limits = limits;
    this.#prompt = prompt;
    this.#mostNanos = mostNanos;
    this.around = around;
    leg.startedAtMs = around.dependencies.clock.now();
    this.health = around.dependencies.health.forAccount(around.input.caller.accountId);
    this.billing = {
      acceptedAtMs: pricedAtMs,
      inputImages: countInputImages(request),
      byokFee: around.settings.byokFee,
      catalog: around.settings.catalog,
    };
  }

  isAbandoned(): boolean {
    return this.around.reading.isAbandoned;
  }

  get selected(): Candidate | undefined {
    return this.leg.selected;
  }

  get calling(): Candidate | undefined {
    return this.leg.calling;
  }

  get allowsFallbacks(): boolean {
    return booleanAt(this.request.wishes.provider, 'allow_fallbacks') !== false;
  }

  /** Vectors come in parts, each from an upstream call that is billed. */
  get chargesParts(): boolean {
    return this.request.embedding !== undefined;
  }

  get promptTokens(): number {
    return this.#promptTokens ?? this.admission.countedPrompt ?? this.#prompt.estimatedTokens;
  }

  watch(batch: EventBatch): void {
    const { reading } = this.around;
    const before = this.#meter.pieces;
    this.#meter.push(batch);
    if (reading.isDraining && !this.#meter.isReported) reading.readLate(this.#meter.pieces - before);
  }

  noteFailed(candidate: Candidate, failure: UpstreamFailure, held: EventBatch = []): void {
    const nanos = this.#failedCost(candidate, failure, held);
    if (nanos !== 0n) this.#lost = [...(this.#lost ?? []), { candidate, cause: causeOf(failure), nanos }];
  }

  noteLost(): Promise<void> | undefined {
    return this.#lost === undefined && this.#dropped === undefined ? undefined : this.#noteLostNow();
  }

  async #noteLostNow(): Promise<void> {
    await this.#priceLost();
    await this.around.reservation.noteNow();
  }

  /** What calls that served nothing may cost beyond their charges; those that are not priced yet are left out. */
  get lostSoFar(): readonly WriteOff[] | undefined {
    let all = this.#dropped;
    for (const { cause, nanos = 0n } of this.#lost ?? []) {
      if (nanos > 0n) all = plusWriteOffs(all, [{ cause, nanos }]);
    }
    return all;
  }

  /** Prices lost calls of which nothing was reported. */
  async #priceLost(): Promise<void> {
    for (const lost of this.#lost ?? []) lost.nanos ??= await this.worst(lost.candidate);
  }

  /**
   * The cost of an answer that says that it failed, or of a whole body that cannot be read otherwise, by its own
   * report; undefined = it has none.
   */
  #failedCost(candidate: Candidate, { lostBy }: UpstreamFailure, held: EventBatch): Nanos | undefined {
    const isLost = lostBy !== undefined;
    if (isLost && (lostBy === 'time-limit' || this.request.stream)) return undefined;
    if (held.length === 0) return isLost ? undefined : 0n;
    const fold = new Fold();
    fold.pushAll(held);
    const result = this.#counted(fold.result());
    if (result.usage === undefined) return isLost || hasOutput(result) ? undefined : 0n;
    // Reports leave out what the items of the answer show of the upstream's tools, and a failed body has none.
    const hasTools = toolsAskedBy(this.request)(candidate.endpoint).asked.length > 0;
    if (result.items.length === 0 && hasTools) return undefined;
    if (!isConceivableUsage(result.usage, this.request, candidate.endpoint)) return undefined;
    const { totalNanos, isByok } = billGeneration(candidate, result.usage, this.billing);
    return isByok ? 0n : totalNanos;
  }

  async payDropped(candidate: Candidate, held: EventBatch): Promise<boolean> {
    const fold = new Fold();
    fold.pushAll(held);
    const facts: LegAccountFacts = {
      selected: candidate,
      calling: candidate,
      billing: this.billing,
      chargesParts: false,
      believe: (reported) => this.believe(reported),
      isConceivable: (reported) => isConceivableUsage(reported, this.request, candidate.endpoint),
      estimate: (result) => this.estimate(result),
      withThoughts: (estimated) => estimated,
      worst: (called) => this.worst(called),
    };
    const { bill, uncharged } = await legAccount(this.#counted(fold.result()), 'whole', facts);
    if (!(await this.#pay(bill.totalNanos))) return false;
    this.#dropped = plusWriteOffs(this.#dropped, uncharged);
    return true;
  }

  async #pay(nanos: Nanos): Promise<boolean> {
    if (nanos === 0n) return true;
    try {
      return (await this.around.reservation.charge(NO_ROW, 'dropped_answer', nanos)) !== undefined;
    } catch (error) {
      if (error instanceof LedgerUnavailable) return false;
      throw error;
    }
  }

  get uncountedTokens(): number {
    return this.#meter.uncountedTokens;
  }

  get isReported(): boolean {
    return this.#meter.isReported;
  }

  /** False if the reservation, or the generation's own limit, is used up. */
  mayGoOn(): boolean {
    const { selected, admission } = this;
    if (selected === undefined) return true;
    if (admission.isTight && !admission.mayGoOn(selected, this.#meter.outputTokens)) return false;
    const most = this.#mostNanos();
    if (most === undefined) return true;
    const usage = this.#meter.usage(this.promptTokens);
    return billGeneration(selected, usage, this.billing).totalNanos <= most;
  }

  believe(reported: Usage | undefined): Usage | undefined {
    const usage = this.#plausible(reported);
    // Usage reported before the end does not cover later text.
    return usage?.source === 'measured' && this.#meter.isOutdated ? { ...usage, source: 'estimated' } : usage;
  }

  isConceivable(reported: Usage): boolean {
    return isConceivableUsage(reported, this.request, (this.selected ?? this.calling)?.endpoint);
  }

  async estimate(result: Result): Promise<Usage> {
    const usage = await estimateUsage(this.request, result, this.around.dependencies.tokenizer);
    const { webSearchRequests = 0, hosted } = result.usage ?? {};
    const counted = this.#withToolsRun(result, {
      ...usage,
      outputTokens: Math.max(usage.outputTokens, this.#meter.pieces),
      // A report with implausible tokens may still be right about tools.
      webSearchRequests,
      ...(hosted !== undefined && { hosted }),
    });
    // Searches that the request does not allow are never charged, estimated or reported.
    return this.#plausible(counted) ?? { ...counted, webSearchRequests: 0 };
  }

  /** With a BYOK credential the upstream bills its owner. */
  async worst(called: Candidate): Promise<Nanos> {
    if (called.access.kind === 'byok') return 0n;
    const { admission, request } = this;
    return admission.worst(called, () => countPrompt(request, this.around.dependencies.tokenizer));
  }

  withThoughts(estimated: Usage, { items }: Result): Usage {
    const { selected, admission, request } = this;
    const thinking = thinkingOf(request, selected);
    // Nothing is known of how far thoughts have come that are still going on.
    if (selected === undefined || thinking === undefined || items.every(({ type }) => type === 'reasoning'))
      return estimated;
    const usual = this.around.state.thoughts.meanOf(selected.endpoint.site, thinking) ?? 0;
    const budget = budgetFor(request, selected) ?? Number.POSITIVE_INFINITY;
    const likely = estimated.outputTokens + Math.ceil(Math.min(usual, Math.max(budget, MIN_BUDGET_TOKENS)));
    const outputTokens = Math.max(estimated.outputTokens, Math.min(likely, admission.mostOutput(selected)));
    const reasoningTokens = estimated.reasoningTokens + outputTokens - estimated.outputTokens;
    return { ...estimated, outputTokens, reasoningTokens };
  }

  account(result: Result, end: AnswerEnd): LegAccount | Promise<LegAccount> {
    const account = legAccount(this.#counted(result), end, this);
    const hasLost = this.#lost !== undefined || this.#dropped !== undefined;
    if (account instanceof Promise || hasLost) return this.#withLost(account);
    return withAssumedSearches(account);
  }

  /** The account with the calls that served nothing. */
  async #withLost(closing: LegAccount | Promise<LegAccount>): Promise<LegAccount> {
    const account = await closing;
    if (this.#lost === undefined && this.#dropped === undefined) return withAssumedSearches(account);
    await this.#priceLost();
    const uncharged = plusWriteOffs(account.uncharged, this.lostSoFar);
    return withAssumedSearches({ ...account, uncharged });
  }

  /** Usage and bill if the leg ended now. */
  async soFar(): Promise<UsedSoFar> {
    if (this.selected === undefined) return NOTHING_USED;
    // The tokenizer may be busy or starting: then an approximate count is used.
    if (!this.#meter.isReported) await isInTime(this.#count(), COUNT_PATIENCE_MS);
    const usage = this.#meter.usage(this.#promptTokens ?? this.#prompt.estimatedTokens);
    return { usage, bill: billGeneration(this.selected, usage, this.billing) };
  }

  /** Ends the leg: reports the outcome to routing and the answer's length to admission. */
  conclude(
    { usage, bill }: LegAccount,
    status: LegEnd['status'],
    result: Result,
    error?: GatewayError,
  ): void {
    const { leg, request, admission, billing } = this;
    const { clock, memory } = this.around.dependencies;
    conclude(request, leg, { status, usage, bill, result, error }, memory);
    if (status === 'failed' && leg.selected !== undefined) leg.noteBreakOff(error, clock.monotonic());
    if (status === 'completed') {
      const { learnt, thoughts } = this.around.state;
      learnt.learn(admission.answers, this.#learnt(usage));
      const { selected } = leg;
      const thinking = thinkingOf(request, selected);
      if (
        selected !== undefined &&
        thinking !== undefined &&
        // What a credential of an account reports must not change what other accounts are charged.
        selected.access.kind !== 'byok' &&
        usage.source === 'measured' &&
        usage.imageTokens === 0
      ) {
        const hidden = Math.max(0, usage.outputTokens - this.#meter.visibleTokens);
        thoughts.learn(selected.endpoint.site, thinking, hidden);
      }
    }
    const { acceptedAtMs } = billing;
    leg.endedAtMs = clock.now();
    leg.end = { status, usage, bill, pricedAtMs: acceptedAtMs, serviceTier: result.finish?.serviceTier };
  }

  /** The amount charged, once the leg has ended. */
  get spent(): Amount {
    return this.leg.end === undefined ? NOTHING : amountOf(this.leg.end.bill);
  }

  /** The reason why the leg exceeded its reservation; undefined = it did not. */
  get exceededBy(): WriteOffCause | undefined {
    const { selected, admission } = this;
    const { end } = this.leg;
    if (end === undefined || selected === undefined) return undefined;
    const isExceeded = end.bill.totalNanos > admission.reserved.creditNanos;
    return isExceeded ? admission.exceededBy(selected, end.usage) : undefined;
  }

  /** The prompt as the upstream has counted it; undefined = it has not. */
  get measuredPrompt(): MeasuredPrompt | undefined {
    const { usage } = this.leg.end ?? {};
    if (usage?.source !== 'measured' || hasRunTools(usage)) return undefined;
    const { countedPrompt: counted } = this.admission;
    return { inputTokens: usage.inputTokens, counted, prompt: this.#prompt };
  }

  #withToolsRun({ items }: Result, usage: Usage): Usage {
    return withToolsRun(usage, items, this.request, this.calling?.endpoint);
  }

  /** The answer, where its report counts the tools that it shows. */
  #counted(result: Result): Result {
    const { usage } = result;
    return usage === undefined ? result : { ...result, usage: this.#withToolsRun(result, usage) };
  }

  #plausible(reported: Usage | undefined): Usage | undefined {
    return plausibleUsage(reported, this.request, (this.selected ?? this.calling)?.endpoint);
  }

  /** A prompt with images, files or search results says nothing about how text is counted. */
  #learnt(usage: Usage): LearntAnswer {
    const { countedPrompt = 0 } = this.admission;
    const isKnown =
      usage.source === 'measured' &&
      !hasRunTools(usage) &&
      countedPrompt >= MIN_RATIO_PROMPT_TOKENS &&
      this.#prompt.media.imageSizes.length + this.#prompt.media.documents === 0;
    return {
      outputTokens: usage.outputTokens,
      ...(isKnown && { promptRatio: usage.inputTokens / countedPrompt }),
    };
  }

  /** Counts new output, and the prompt once. Counts run one at a time. */
  #count(): Promise<void> {
    this.#counting ??= this.#countNow().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countNow(): Promise<void> {
    const { tokenizer } = this.around.dependencies;
    await this.#meter.count((text) => tokenizer.count([text]));
    if (this.#meter.knowsPrompt) return;
    this.#promptTokens ??= this.admission.countedPrompt ?? (await countPrompt(this.request, tokenizer));
  }
}

/** A failed call, and the cost that its upstream reported; undefined = it is priced at its worst cost. */
interface LostCall {
  readonly candidate: Candidate;
  readonly cause: WriteOffCause;
  nanos: Nanos | undefined;
}

/** True if the upstream ran tools: then the prompt went through its model several times. */
function hasRunTools({ webSearchRequests, hostedCalls = 0 }: Usage): boolean {
  return webSearchRequests > 0 || hostedCalls > 0;
}

/** How a candidate thinks about a request, as far as that makes its thoughts longer; undefined = it does not. */
function thinkingOf(request: GenerationRequest, candidate: Candidate | undefined): string | undefined {
  const reasoning = candidate?.endpoint.reasoning;
  if (candidate === undefined || reasoning === undefined) return undefined;
  if (budgetFor(request, candidate) !== undefined) return 'budget';
  const effort = effortOf(request.reasoning);
  return effort === 'none' && !reasoning.mandatory ? undefined : (effort ?? USUAL_THINKING);
}

/**
 * The most tokens of thoughts that a candidate was asked for; undefined = it has no bound. Beside an effort a budget
 * bounds only models that are known to take one.
 */
function budgetFor(
  { reasoning: { budgetTokens, effort } = {} }: GenerationRequest,
  { endpoint }: Candidate,
): number | undefined {
  const isTaken = endpoint.reasoning?.takesBudget ?? effort === undefined;
  return isTaken ? budgetTokens : undefined;
}

/** Before any call of a leg has brought content. */
const NOTHING_USED: UsedSoFar = { usage: NO_USAGE, bill: FREE };

/** For charges while a leg runs: the ledger knows the generation by then, and takes no row. */
const NO_ROW = () => ({});

export class EndedLeg {
  readonly leg: Leg;
  readonly exceededBy: WriteOffCause | undefined;

  constructor({ leg, exceededBy }: RunningLeg) {
    this.leg = leg;
    this.exceededBy = exceededBy;
  }
}

/** A search that was only assumed makes the whole an estimate. */
function withAssumedSearches(account: LegAccount): LegAccount {
  const { usage } = account;
  const isAssumed = usage.hasNoSearchCount === true && usage.webSearchRequests > 0;
  return isAssumed ? { ...account, usage: { ...usage, source: 'estimated' } } : account;
}
