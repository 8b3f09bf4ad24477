import type { Amount } from '../../ir/amount.ts';
import type { Usage } from '../../ir/usage.ts';
import type { WriteOffCause } from '../../ports/ledger.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { PaidLimits } from '../../upstream/upstream.ts';
import type { Answers } from './learnt-lengths.ts';
import { canPay, type ReservationSize } from './reservation-size.ts';
import { type CostFacts, WorstCost } from './worst-cost.ts';

/** What an admission is made of. */
export interface AdmissionParts {
  readonly answers: Answers;
  /** Tokens of the prompt as we count them; undefined where they were not counted. */
  readonly countedPrompt: number | undefined;
  readonly facts: CostFacts;
  /** Of the candidates whose prices were looked at. */
  readonly costs: readonly WorstCost[];
  readonly reserved: Amount;
  readonly size: Pick<ReservationSize, 'kind' | 'leastTokens'>;
}

/** An upstream that exceeds its output limit by more than this is cut off: tokenizers differ, by less. */
const OVERRUN_FACTOR = 1.5;
const OVERRUN_SLACK_TOKENS = 32;

const NO_LIMITS: PaidLimits = {};

/** A request whose money is reserved: what it may write. */
export class Admission {
  /** Whose answers this one is like. */
  readonly answers: Answers;
  /** Tokens of the prompt as we count them; undefined where they were not counted. */
  readonly countedPrompt: number | undefined;
  readonly facts: CostFacts;
  readonly #size: AdmissionParts['size'];
  /** All that is reserved. */
  readonly reserved: Amount;
  readonly #costs: readonly WorstCost[];
  /** Of the candidate that was asked about last: nearly always the same again. */
  #paying: Paying | undefined;

  constructor(parts: AdmissionParts) {
    this.answers = parts.answers;
    this.countedPrompt = parts.countedPrompt;
    this.facts = parts.facts;
    this.#costs = parts.costs;
    this.#size = parts.size;
    this.reserved = parts.reserved;
  }

  /** The money is short: the answer may have to be ended in the middle. */
  get isTight(): boolean {
    return this.#size.kind === 'rest';
  }

  /** Whether a candidate can be paid: for all that it may write, or for an answer that is worth beginning. */
  canPay(candidate: Candidate): boolean {
    if (this.#size.kind === 'open') return true;
    return canPay(this.#payingFor(candidate).cost, this.reserved, this.#size.leastTokens);
  }

  /** What a candidate is called with so that it stays within the reservation. */
  paidLimits(candidate: Candidate): PaidLimits {
    if (this.#size.kind === 'open') return NO_LIMITS;
    const { cost, paid } = this.#payingFor(candidate);
    const assumed = cost.isOutputAssumed ? cost.fullTokens : undefined;
    return {
      outputTokens: paid < cost.fullTokens ? Math.max(1, paid) : assumed,
      searches: cost.mustBoundSearches ? cost.searches : undefined,
    };
  }

  /** What of a usage went beyond what is reserved. */
  exceededBy(candidate: Candidate, usage: Usage): WriteOffCause {
    const { cost, paid } = this.#payingFor(candidate);
    return cost.exceededBy(usage, paid);
  }

  /** Whether an answer may go on after so many tokens; false: it has to end here. */
  mayGoOn(candidate: Candidate, outputTokens: number): boolean {
    if (!this.isTight) return true;
    const { cost, paid } = this.#payingFor(candidate);
    // The upstream was told a limit and counts by its own tokenizer: only one that ignores it is stopped.
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

/** What a candidate may cost, and how many output tokens of it are paid for by now. */
interface Paying {
  readonly cost: WorstCost;
  readonly paid: number;
}
