import { type Amount, atLeast, minus } from '../../ir/amount.ts';
import type { Usage } from '../../ir/usage.ts';
import type { Ledger, WriteOffCause } from '../../ports/ledger.ts';
import type { Candidate } from '../../routing/candidate.ts';
import type { Answers } from './learnt-lengths.ts';
import { canPay, type ReservationSize } from './reservation-size.ts';
import { type CostFacts, WorstCost } from './worst-cost.ts';

/** What an admission is made of. */
export interface AdmissionParts {
  readonly generationId: string;
  readonly answers: Answers;
  /** Tokens of the prompt as we count them; undefined where they were not counted. */
  readonly countedPrompt: number | undefined;
  readonly facts: CostFacts;
  /** Of the candidates whose prices were looked at. */
  readonly costs: readonly WorstCost[];
  readonly reserved: Amount;
  readonly size: Pick<ReservationSize, 'kind' | 'leastTokens'>;
  readonly ledger: Ledger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Output tokens that are reserved ahead of what was written. */
const LEAD = 256;

/** Output tokens that are reserved at a time, where there is the money. */
const STEP = 2048;

/** An upstream that exceeds its output limit by more than this is cut off: tokenizers differ, by less. */
const OVERRUN_FACTOR = 1.5;
const OVERRUN_SLACK_TOKENS = 32;

/** A request whose money is reserved: what it may write, and how it gets more. */
export class Admission {
  /** Whose answers this one is like. */
  readonly answers: Answers;
  /** Tokens of the prompt as we count them; undefined where nobody counted. */
  readonly countedPrompt: number | undefined;
  readonly facts: CostFacts;
  readonly #generationId: string;
  readonly #size: AdmissionParts['size'];
  readonly #ledger: Ledger;
  readonly #now: () => number;
  #reserved: Amount;
  readonly #costs: readonly WorstCost[];
  /** Of the candidate that was asked about last: nearly always the same again. */
  #paying: Paying | undefined;

  constructor(parts: AdmissionParts) {
    this.answers = parts.answers;
    this.countedPrompt = parts.countedPrompt;
    this.facts = parts.facts;
    this.#generationId = parts.generationId;
    this.#costs = parts.costs;
    this.#size = parts.size;
    this.#ledger = parts.ledger;
    this.#now = parts.now;
    this.#reserved = parts.reserved;
  }

  /** All that is reserved by now. */
  get reserved(): Amount {
    return this.#reserved;
  }

  /** The money is short: the answer may have to be ended in the middle. */
  get isTight(): boolean {
    return this.#size.kind === 'begun' || this.#size.kind === 'rest';
  }

  /** Whether a candidate can be paid: for all that it may write, or for an answer that is worth beginning. */
  canPay(candidate: Candidate): boolean {
    if (this.#size.kind === 'open') return true;
    return canPay(this.#payingFor(candidate).cost, this.#reserved, this.#size.leastTokens);
  }

  /** Output tokens that a candidate is let write; undefined = as many as it likes. */
  mostOutputTokens(candidate: Candidate): number | undefined {
    if (this.#size.kind === 'open') return undefined;
    const { cost, paid } = this.#payingFor(candidate);
    const assumed = cost.isOutputAssumed ? cost.fullTokens : undefined;
    if (this.#size.kind === 'begun' || paid >= cost.fullTokens) return assumed;
    return Math.max(1, paid);
  }

  /** Searches that a candidate is let run; undefined = as many as the request allows. */
  mostSearches(candidate: Candidate): number | undefined {
    if (this.#size.kind === 'open') return undefined;
    const { cost } = this.#payingFor(candidate);
    return cost.mustBoundSearches ? cost.searches : undefined;
  }

  /** What of a usage went beyond what is reserved. */
  exceededBy(candidate: Candidate, usage: Usage): WriteOffCause {
    const { cost, paid } = this.#payingFor(candidate);
    return cost.exceededBy(usage, paid);
  }

  /** Whether an answer may go on after so many tokens. Reserves more where need be; false: it has to end here. */
  mayGoOn(candidate: Candidate, outputTokens: number): boolean | Promise<boolean> {
    if (!this.isTight) return true;
    const { cost, paid } = this.#payingFor(candidate);
    if (paid >= cost.fullTokens) return true;
    // Who was told a limit counts by its own tokenizer: only one who ignores it is stopped.
    if (this.#size.kind === 'rest') return outputTokens <= paid * OVERRUN_FACTOR + OVERRUN_SLACK_TOKENS;
    return outputTokens + LEAD <= paid || this.#extend(cost, outputTokens, paid);
  }

  async #extend(cost: WorstCost, outputTokens: number, paid: number): Promise<boolean> {
    for (const step of [STEP, LEAD]) {
      const tokens = Math.min(cost.fullTokens, outputTokens + LEAD + step);
      if (await this.#raiseTo(cost.amountOf(tokens))) return true;
    }
    return outputTokens < paid;
  }

  async #raiseTo(wanted: Amount): Promise<boolean> {
    const next = atLeast(this.#reserved, wanted);
    const more = minus(next, this.#reserved);
    if (!(await this.#ledger.topUp(this.#generationId, more, this.#now()))) return false;
    this.#reserved = next;
    this.#paying = undefined;
    return true;
  }

  #payingFor(candidate: Candidate): Paying {
    if (this.#paying?.cost.candidate !== candidate) {
      const known = this.#costs.find((cost) => cost.candidate === candidate);
      const cost = known ?? new WorstCost(candidate, this.facts);
      this.#paying = { cost, paid: cost.tokensWithin(this.#reserved) };
    }
    return this.#paying;
  }
}

/** What a candidate may cost, and how many output tokens of it are paid for by now. */
interface Paying {
  readonly cost: WorstCost;
  readonly paid: number;
}
