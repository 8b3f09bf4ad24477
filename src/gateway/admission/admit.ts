import { mayCompact, namesRegion } from '../../dialects/shared/requests/billed-wishes.ts';
import { highestLimit, outputAskedFor } from '../../dialects/shared/requests/output-limit.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import { type Affordable, type Headroom, LedgerUnavailable, type Refusal } from '../../ports/money/ledger.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { Prompt } from '../../tokens/prompt.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import { NothingLeft, type Plan } from '../plan/plan.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import { countInputImages } from '../request/input-images.ts';
import { Admission } from './admission.ts';
import { type Answers, answersOf, type LearntLengths } from './learnt-lengths.ts';
import { dollars, refused } from './refused.ts';
import type { GenerationReservation } from './reservation.ts';
import {
  isUnlimited,
  leastAmountOf,
  type ReservationSize,
  sizeReservation,
  tokensWithin,
} from './reservation-size.ts';
import { toolPreambleTokens } from './tool-preambles.ts';
import { callsWanted, type ToolsAsked, toolsAskedBy } from './tools-asked.ts';
import { withinPrices } from './unpriced.ts';
import { type CostFacts, WorstCost } from './worst-cost.ts';

export interface AdmitDependencies {
  readonly reservation: Pick<GenerationReservation, 'hold' | 'isBoundByMax'>;
  readonly tokenizer: Tokenizer;
  readonly learnt: LearntLengths;
  readonly byokFee: number;
}

/** The leg for which money is reserved. */
export interface Applicant {
  readonly input: GenerationInput;
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly plan: Plan;
  /** Epoch milliseconds: the leg is billed at the prices of this moment. */
  readonly pricedAtMs: number;
  /** Returns the row that the generation gets if the process crashes. */
  readonly row: () => JsonObject;
  /** The prompt of an earlier leg, with which this one begins; undefined = there is none. */
  readonly measured?: MeasuredPrompt | undefined;
}

/** A prompt that an upstream has counted. */
export interface MeasuredPrompt {
  /** The upstream's count. */
  readonly inputTokens: number;
  /** Our own count; undefined = it was not counted. */
  readonly counted: number | undefined;
  readonly prompt: Pick<Prompt, 'worst' | 'extraTokens'>;
}

/** Candidates that are priced: more than a request may call, because some are skipped. */
const MAX_PRICED_CANDIDATES = 32;

/** A balance for this many requests of the same worst cost makes an exact token count unnecessary. */
const UNCOUNTED_REQUESTS = 8n;

/** Lowest assumed ratio of an upstream's token count to ours: tokenizers differ. */
const TOKENIZER_FACTOR = 1.5;

/** Tokens that an upstream adds around a prompt. */
const WRAPPING_TOKENS = 8;

/**
 * Reserves the money for a request before anything is sent. Rejects with 402 or 403 if a limit forbids it, with 503 if
 * nothing can be recorded.
 */
export async function admit(applicant: Applicant, dependencies: AdmitDependencies): Promise<Admission> {
  const { prompt, input, row } = applicant;
  const { reservation } = dependencies;
  const quick = new Sizing(applicant, dependencies, undefined);
  try {
    const first = await reservation.hold(row, (headroom) => quick.withPlenty(headroom));
    if (first.ok) return quick.admission(first.reserved);
    quick.assertPriced();
    const counted = new Sizing(
      applicant,
      dependencies,
      await prompt.count(dependencies.tokenizer, input.signal),
    );
    const second = await reservation.hold(row, (headroom) =>
      // Within a limit of its own a shorter answer is what the caller asked for.
      counted.exactly(headroom, reservation.isBoundByMax),
    );
    if (second.ok) return counted.admission(second.reserved);
    counted.assertPriced();
    if (reservation.isBoundByMax) throw new MaxCostReached('max_cost_in_dollars', counted.leastNanos);
    throw refused(second.refusal, { scopes: input.caller.scopes, ...counted.shortage });
  } catch (error) {
    throw error instanceof LedgerUnavailable ? unrecordable(error) : error;
  }
}

/**
 * Reserves the worst cost of a further leg: of all its candidates, else of the first alone, else what is left, which
 * limits the output. Resolves with the limit that is too low even for a short answer. Rejects with 503 if nothing can
 * be recorded.
 */
export async function admitFurther(
  applicant: Applicant,
  dependencies: AdmitDependencies,
): Promise<Admission | Refusal> {
  try {
    return await admitWithin(applicant, dependencies);
  } catch (error) {
    throw error instanceof LedgerUnavailable ? unrecordable(error) : error;
  }
}

async function admitWithin(
  applicant: Applicant,
  dependencies: AdmitDependencies,
): Promise<Admission | Refusal> {
  const { prompt, input, row, plan } = applicant;
  const quick = new Sizing(applicant, dependencies, undefined);
  const first = await dependencies.reservation.hold(row, (headroom) => quick.withPlenty(headroom));
  if (first.ok) return quick.admission(first.reserved);
  quick.assertPriced();
  const counted = await prompt.count(dependencies.tokenizer, input.signal);
  const atFirst = { ...applicant, plan: { ...plan, candidates: plan.candidates.slice(0, 1) } };
  const all = new Sizing(applicant, dependencies, counted);
  const alone = new Sizing(atFirst, dependencies, counted);
  const second = await dependencies.reservation.hold(
    row,
    (headroom) =>
      all.wholly(headroom) ??
      alone.wholly(headroom) ??
      // The legs before are paid for: a shorter answer is better than none.
      alone.exactly(headroom, true),
  );
  if (!second.ok) {
    if (dependencies.reservation.isBoundByMax)
      throw new MaxCostReached('What is left of max_cost_in_dollars');
    return second.refusal;
  }
  return (all.isSized ? all : alone).admission(second.reserved);
}

/** The rest of `max_cost_in_dollars` does not pay for a model call, which may cost so much at least. */
export class MaxCostReached extends GatewayError {
  constructor(limit: string, leastNanos?: Nanos) {
    const least = leastNanos === undefined ? '' : `, for which $${dollars(leastNanos)} must be reserved`;
    super('payment', `${limit} does not pay for the next model call${least}`);
  }
}

export function unrecordable(error: LedgerUnavailable): GatewayError {
  return new GatewayError('overloaded', `Service temporarily unavailable: ${error.message}`, {
    retryAfterSeconds: 5,
    cause: error,
  });
}

/**
 * Upper bound of the tokens that an upstream counts in a prompt, without images and files. `counted`: our own count.
 * `ratio`: the highest recent ratio of an upstream's count to ours; it only raises the bound, because it comes from
 * other texts. No tokenizer makes more tokens than a text has bytes.
 */
function promptTokens(counted: number | undefined, ratio: number, prompt: Prompt): number {
  const { bytes, unseenTokens } = prompt.worst;
  if (counted === undefined) return bytes;
  const ofText = counted * Math.max(ratio, TOKENIZER_FACTOR) + prompt.extraTokens;
  return Math.min(bytes, Math.ceil(ofText) + unseenTokens);
}

/**
 * Upper bound of the tokens of a prompt that begins with one which the upstream has counted: its count, and the bound
 * of what was added.
 */
function promptTokensAfter(
  before: MeasuredPrompt,
  counted: number | undefined,
  ratio: number,
  prompt: Prompt,
): number {
  const { bytes, unseenTokens } = prompt.worst;
  const { worst } = before.prompt;
  const added = { bytes: bytes - worst.bytes, unseenTokens: unseenTokens - worst.unseenTokens };
  if (counted === undefined || before.counted === undefined) return before.inputTokens + added.bytes;
  const extraTokens = prompt.extraTokens - before.prompt.extraTokens;
  const ofText = (counted - before.counted) * Math.max(ratio, TOKENIZER_FACTOR) + extraTokens;
  return before.inputTokens + Math.min(added.bytes, Math.ceil(ofText) + added.unseenTokens);
}

/** Numbers of tool calls to reserve for, from all that are wanted down to a single one. */
function* fewerAndFewer(wanted: number): Generator<number> {
  for (let calls = wanted; calls > 1; calls = Math.floor(calls / 2)) yield calls;
  yield 1;
}

function firstOf(candidates: Plan['candidates']): Plan['candidates'] {
  return candidates.length > MAX_PRICED_CANDIDATES ? candidates.slice(0, MAX_PRICED_CANDIDATES) : candidates;
}

function isPlenty({ amount }: ReservationSize, { creditNanos, totalNanos }: Affordable): boolean {
  const wanted = (amount.creditNanos + amount.byokNanos) * UNCOUNTED_REQUESTS;
  return (creditNanos === null || wanted <= creditNanos) && (totalNanos === null || wanted <= totalNanos);
}

/** Decides how much is reserved for one request, and keeps the last decision. */
class Sizing {
  readonly #applicant: Applicant;
  readonly #dependencies: AdmitDependencies;
  readonly #counted: number | undefined;
  readonly #answers: Answers;
  #toolsAsked: ToolsAsked;
  /** Types of tools that the limits keep from upstreams, which have no price for them. */
  #withoutTools: ReadonlySet<string> | undefined;
  #size: ReservationSize | null = null;
  #costFacts: CostFacts | undefined;
  #costs: readonly WorstCost[] = [];
  #affordable: Affordable | undefined;
  /** The plan as far as the headroom of the last attempt allows it; NothingLeft = no candidate is left. */
  #plan: Plan | NothingLeft;

  constructor(applicant: Applicant, dependencies: AdmitDependencies, counted: number | undefined) {
    const { input, plan, request } = applicant;
    this.#applicant = applicant;
    this.#plan = plan;
    this.#toolsAsked = toolsAskedBy(request);
    this.#dependencies = dependencies;
    this.#counted = counted;
    this.#answers = answersOf(input.caller.key.hash, plan.candidates[0]?.model.id ?? '');
  }

  /** The size if there is no limit, or far more money than the request can cost; null = count the prompt first. */
  withPlenty(headroom: Headroom) {
    const { affordable } = headroom;
    const size = this.#sizeFor(headroom, this.#callsWanted());
    if (size === null) return null;
    return size.kind === 'open' || (size.kind === 'whole' && isPlenty(size, affordable)) ? size.amount : null;
  }

  /**
   * The size by an exact count; null = too little money. Pays for fewer tool calls if the answer would be cut short
   * otherwise. `mayBeShort`: an answer shorter than usual is better than none.
   */
  exactly(headroom: Headroom, mayBeShort = false) {
    for (const calls of fewerAndFewer(this.#callsWanted())) {
      const size = this.#sizeFor(headroom, calls, mayBeShort);
      if (size !== null && (size.kind !== 'rest' || calls === 1)) return size.amount;
    }
    return null;
  }

  /** The size for the whole worst cost; null = too little money. */
  wholly(headroom: Headroom) {
    for (const calls of fewerAndFewer(this.#callsWanted())) {
      const size = this.#sizeFor(headroom, calls);
      if (size !== null && size.kind !== 'rest') return size.amount;
    }
    this.#size = null;
    return null;
  }

  /** True if the money was enough at the last attempt. */
  get isSized(): boolean {
    return this.#size !== null;
  }

  /** The most calls of its own tools that any candidate would make. */
  #callsWanted(): number {
    let wanted = 0;
    for (const { endpoint } of firstOf(this.#applicant.plan.candidates)) {
      wanted = Math.max(wanted, callsWanted(this.#toolsAsked(endpoint)));
    }
    return wanted;
  }

  /** What the shortest answer of the cheapest candidate needs. */
  get leastNanos(): Nanos | undefined {
    const least = this.#costs.map((cost) => leastAmountOf(cost).creditNanos);
    return least.length === 0 ? undefined : least.reduce((low, nanos) => (nanos < low ? nanos : low));
  }

  get shortage() {
    const affordable = this.#affordable;
    const within = affordable === undefined ? [] : this.#costs.map((cost) => tokensWithin(cost, affordable));
    const [first] = this.#costs;
    return {
      requestedTokens: first?.fullTokens ?? 0,
      affordableTokens: Math.max(-1, ...within),
      // Explains a high price to a caller whose text is short.
      filledContext: this.#costFacts?.mayFillContext ? first?.promptTokens : undefined,
    };
  }

  /** Throws a 404 if every candidate would run tools without a price, for a caller whom a limit covers. */
  assertPriced(): void {
    if (this.#plan instanceof NothingLeft) throw this.#plan;
  }

  admission(reserved: Admission['reserved']): Admission {
    const size = this.#size;
    const facts = this.#costFacts;
    const plan = this.#plan;
    if (size === null || facts === undefined || plan instanceof NothingLeft)
      throw new Error('money was reserved before its size was known');
    return new Admission({
      plan,
      answers: this.#answers,
      countedPrompt: this.#counted,
      facts,
      costs: this.#costs,
      sizing: this,
      reserved,
      size,
      withoutTools: this.#withoutTools,
    });
  }

  worstCost(candidate: Candidate, counted: number): WorstCost {
    const promptRatio = this.#dependencies.learnt.of(this.#answers)?.promptRatio;
    return new WorstCost(candidate, this.#worstFacts(this.#callsWanted(), promptRatio, counted));
  }

  #sizeFor(headroom: Headroom, toolCalls: number, mayBeShort = false): ReservationSize | null {
    const plan = this.#planWithin(headroom);
    this.#plan = plan;
    if (plan instanceof NothingLeft) {
      this.#size = null;
      return null;
    }
    const known = this.#dependencies.learnt.of(this.#answers);
    const facts = isUnlimited(headroom.affordable)
      ? this.#usualFacts(toolCalls)
      : this.#worstFacts(toolCalls, known?.promptRatio);
    const costs = firstOf(plan.candidates).map((candidate) => new WorstCost(candidate, facts));
    this.#costFacts = facts;
    this.#costs = costs;
    this.#affordable = headroom.affordable;
    this.#size = sizeReservation(costs, headroom, known?.longest, mayBeShort);
    return this.#size;
  }

  /** Within a limit only candidates, or tools, that have a price for all that they may bill. */
  #planWithin({ affordable }: Headroom): Plan | NothingLeft {
    const { plan, request, pricedAtMs } = this.#applicant;
    if (isUnlimited(affordable)) return plan;
    try {
      const priced = withinPrices(plan, request, pricedAtMs);
      this.#toolsAsked = priced.toolsAsked;
      this.#withoutTools = priced.withoutTools;
      return priced.plan;
    } catch (error) {
      if (error instanceof NothingLeft) return error;
      throw error;
    }
  }

  /**
   * Without a limit the reserved amount decides only what is written off after a crash, so that a token for each
   * character does.
   */
  #usualFacts(toolCalls: number): CostFacts {
    const { request, prompt } = this.#applicant;
    const tokens = prompt.characters + this.#preambleTokens();
    return this.#factsOf(toolCalls, tokens, outputAskedFor(request));
  }

  #factsOf(mostCalls: number, promptTokens: number, requestedOutputTokens: number | undefined): CostFacts {
    const { request, prompt, pricedAtMs } = this.#applicant;
    return {
      promptTokens,
      mayFillContext: prompt.media.documents > 0,
      images: prompt.media.imageSizes,
      inputImages: countInputImages(request),
      toolsAsked: this.#toolsAsked,
      mostCalls,
      mayCompact: mayCompact(request.body),
      namesRegion: namesRegion(request.body),
      requestedOutputTokens,
      byokFee: this.#dependencies.byokFee,
      atMs: pricedAtMs,
    };
  }

  #preambleTokens(): number {
    return WRAPPING_TOKENS + toolPreambleTokens(this.#applicant.request.tools);
  }

  /** What an upstream has counted is true of it, be it more or less than a bound of ours; others may count more. */
  #promptTokensAfter(measured: MeasuredPrompt, bound: number, promptRatio: number): number {
    const { plan, prompt } = this.#applicant;
    const after = WRAPPING_TOKENS + promptTokensAfter(measured, this.#counted, promptRatio, prompt);
    return plan.candidates.length === 1 ? after : Math.max(after, bound);
  }

  #worstFacts(toolCalls: number, promptRatio = 0, counted = this.#counted): CostFacts {
    const { request, prompt, measured } = this.#applicant;
    const { imageSizes, documents } = prompt.media;
    const bound = promptTokens(counted, promptRatio, prompt) + this.#preambleTokens();
    const tokens =
      measured === undefined || imageSizes.length + documents > 0
        ? bound
        : this.#promptTokensAfter(measured, bound, promptRatio);
    return this.#factsOf(toolCalls, tokens, highestLimit(request));
  }
}
