import type { Amount } from '../../ir/amount.ts';
import type { Usage } from '../../ir/usage.ts';
import type { Nanos } from '../../kit/money.ts';
import type { WriteOffCause } from '../../ports/money/write-offs.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { PaidLimits } from '../../upstream/upstream.ts';
import type { Plan } from '../plan/plan.ts';
import type { Answers } from './learnt-lengths.ts';
import { canPay, type ReservationSize } from './reservation-size.ts';
import { type CostFacts, WorstCost } from './worst-cost.ts';

export interface AdmissionMembers {
  /** The plan, without candidates that the limits forbid. */
  readonly plan: Plan;
  readonly answers: Answers;
  /** Tokens of the prompt by our own count; undefined = not counted. */
  readonly countedPrompt: number | undefined;
  readonly facts: CostFacts;
  /** One for each candidate that was priced. */
  readonly costs: readonly WorstCost[];
  readonly reserved: Amount;
  readonly sizing: WorstCosts;
  readonly size: Pick<ReservationSize, 'kind' | 'leastTokens'>;
  /** Types of tools that upstreams do not get, because they have no price for them; undefined = they get all. */
  readonly withoutTools?: ReadonlySet<string> | undefined;
}

/** Bounds the cost of a call, whatever limit applies. */
interface WorstCosts {
  /** `counted`: tokens of the prompt by our own count. */
  worstCost(candidate: Candidate, counted: number): WorstCost;
}

/** An upstream that exceeds its output limit by more than this is cut off: tokenizers differ, by less. */
const OVERRUN_FACTOR = 1.5;
const OVERRUN_SLACK_TOKENS = 32;

const NO_LIMITS: PaidLimits = {};

/** A request whose money is reserved, and the output that the money pays for. */
export class Admission {
  readonly plan: Plan;
  /** Key of the answers whose lengths size this reservation. */
  readonly answers: Answers;
  readonly countedPrompt: number | undefined;
  readonly facts: CostFacts;
  readonly #size: AdmissionMembers['size'];
  readonly reserved: Amount;
  readonly #costs: readonly WorstCost[];
  readonly #sizing: WorstCosts;
  readonly #withoutTools: ReadonlySet<string> | undefined;
  /** Cache for the candidate that was asked about last, nearly always the next one too. */
  #paying: Paying | undefined;

  constructor(members: AdmissionMembers) {
    this.plan = members.plan;
    this.answers = members.answers;
    this.countedPrompt = members.countedPrompt;
    this.facts = members.facts;
    this.#costs = members.costs;
    this.#sizing = members.sizing;
    this.#size = members.size;
    this.reserved = members.reserved;
    this.#withoutTools = members.withoutTools;
  }

  /** True if the money may not pay for the whole answer, which is then ended early. */
  get isTight(): boolean {
    return this.#size.kind === 'rest';
  }

  /** True if the reservation pays for all output of a candidate, or for an answer that is worth beginning. */
  canPay(candidate: Candidate): boolean {
    if (this.#size.kind === 'open') return true;
    return canPay(this.#payingFor(candidate).cost, this.reserved, this.#size.leastTokens);
  }

  /** Limits for the call of a candidate, so that it stays within the reservation. */
  paidLimits(candidate: Candidate): PaidLimits {
    if (this.#size.kind === 'open') return NO_LIMITS;
    const { cost, paid } = this.#payingFor(candidate);
    const assumed = cost.isOutputAssumed ? cost.fullTokens : undefined;
    return {
      outputTokens: paid < cost.fullTokens ? Math.max(1, paid) : assumed,
      toolCalls: cost.paidTools.bound,
      withoutTools: this.#withoutTools,
    };
  }

  exceededBy(candidate: Candidate, usage: Usage): WriteOffCause {
    const { cost, paid } = this.#payingFor(candidate);
    return cost.exceededBy(usage, paid);
  }

  /** Output tokens that a candidate writes at most, within the limit that it was sent. */
  mostOutput(candidate: Candidate): number {
    const { cost, paid } = this.#payingFor(candidate);
    return this.#size.kind === 'open' ? cost.fullTokens : Math.max(1, Math.min(paid, cost.fullTokens));
  }

  /** List price of the most that a call may use. `count`: counts the prompt, if it was not counted. */
  async worst(candidate: Candidate, count: () => Promise<number>): Promise<Nanos> {
    const cost =
      this.#size.kind === 'open'
        ? this.#sizing.worstCost(candidate, this.countedPrompt ?? (await count()))
        : this.#payingFor(candidate).cost;
    return cost.amountOf(this.mostOutput(candidate)).creditNanos;
  }

  /** False if an answer of so many tokens must end here. */
  mayGoOn(candidate: Candidate, outputTokens: number): boolean {
    if (!this.isTight) return true;
    const { cost, paid } = this.#payingFor(candidate);
    // The upstream got a limit and counts by its own tokenizer: only one that ignores the limit is stopped.
    return paid >= cost.fullTokens || outputTokens <= paid * OVERRUN_FACTOR + OVERRUN_SLACK_TOKENS;
  }

  #payingFor(candidate: Candidate): Paying {
    if (this.#paying?.cost.candidate !== candidate) {
      const known = this.#costs.find((cost) => cost.candidate === candidate);
      const cost = known ?? new WorstCost(candidate, this.facts);
      this.#paying = { cost, paid: cost.tokensWithin(this.reserved) };
    }
    return this.#paying;
  }
}

/** Highest cost of a candidate, and its output tokens that are paid for so far. */
interface Paying {
  readonly cost: WorstCost;
  readonly paid: number;
}
