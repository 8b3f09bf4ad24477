import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json.ts';
import {
  type Affordable,
  type Headroom,
  type Ledger,
  LedgerUnavailable,
  type Reserving,
} from '../../ports/ledger.ts';
import type { Prompt } from '../estimate.ts';
import type { GenerationInput } from '../generation.ts';
import { countInputImages } from '../input-images.ts';
import type { Plan } from '../plan.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { Admission } from './admission.ts';
import { type Answers, answersOf, type LearntLengths } from './learnt-lengths.ts';
import { refused } from './refused.ts';
import { type ReservationSize, sizeReservation, tokensWithin } from './reservation-size.ts';
import { type CostFacts, WorstCost } from './worst-cost.ts';

/** What admitting needs besides the request. */
export interface AdmitTools {
  readonly ledger: Ledger;
  readonly tokenizer: Tokenizer;
  readonly learnt: LearntLengths;
  readonly ownCredentialFee: number;
  readonly basePath: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What is known of a request that asks to be admitted. */
export interface Applicant {
  readonly input: GenerationInput;
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly plan: Plan;
  /** What its row says should the gateway crash. */
  readonly row: JsonObject;
  /** The answer is a stream that can be ended in the middle. */
  readonly canBeCut: boolean;
}

/** Candidates whose prices are looked at: more than a request may call, for those that are passed over. */
const MOST_CANDIDATES = 32;

/** Characters of a token where nobody checks the sum. */
const USUAL_CHARACTERS = 4;

/** Characters of a token at the worst, but for scripts that nearly nobody writes in. */
const FEWEST_CHARACTERS = 2;

/** Money for so many requests like this one: exact counting is not worth its time. */
const PLENTY = 8n;

/** How many more tokens an upstream of which nothing is known may count than we do, and what it puts around a prompt. */
const COUNT_SLACK = 1.1;
const COUNT_EXTRA = 8;

/**
 * Reserves the money for a request before anything of it goes out. Rejects with a 402 or 403 where a limit forbids it, with
 * a 503 where nothing can be recorded.
 */
export async function admit(applicant: Applicant, tools: AdmitTools): Promise<Admission> {
  const { prompt, input } = applicant;
  const quick = new Sizing(applicant, tools, prompt.characters);
  try {
    const first = await reserve(applicant, tools, (headroom) => quick.withPlenty(headroom));
    if (first.ok) return quick.admission(first.reserved, tools.ledger);
    const known = await prompt.count(tools.tokenizer, input.signal);
    const counted = new Sizing(applicant, tools, { known });
    const second = await reserve(applicant, tools, (headroom) => counted.exactly(headroom));
    if (second.ok) return counted.admission(second.reserved, tools.ledger);
    throw refused(second.refusal, {
      scopes: input.caller.scopes,
      basePath: tools.basePath,
      ...counted.shortage,
    });
  } catch (error) {
    throw error instanceof LedgerUnavailable ? unrecordable(error) : error;
  }
}

function reserve(
  { input, row }: Applicant,
  { ledger, now }: AdmitTools,
  size: Parameters<Ledger['reserve']>[1],
): Promise<Reserving> {
  const { limits, scopes } = input.caller;
  const { generationId } = input;
  return ledger.reserve({ scopes, limits, atMs: now(), generationId, row }, size);
}

function unrecordable(error: LedgerUnavailable): GatewayError {
  return new GatewayError('overloaded', 'Service temporarily unavailable: nothing can be recorded now', {
    retryAfterSeconds: 5,
    cause: error,
  });
}

/** Tokens that an upstream will count of a prompt. `ratio`: how many times our own count that was lately. */
function promptTokens(counted: number, ratio: number | undefined): number {
  return ratio === undefined ? Math.ceil(counted * COUNT_SLACK) + COUNT_EXTRA : Math.ceil(counted * ratio);
}

function firstOf(candidates: Plan['candidates']): Plan['candidates'] {
  return candidates.length > MOST_CANDIDATES ? candidates.slice(0, MOST_CANDIDATES) : candidates;
}

function isPlenty({ amount }: ReservationSize, { creditNanos, totalNanos }: Affordable): boolean {
  const wanted = (amount.creditNanos + amount.byokNanos) * PLENTY;
  return (creditNanos === null || wanted <= creditNanos) && (totalNanos === null || wanted <= totalNanos);
}

/** Tokens of a prompt: counted, or guessed from its characters. */
type PromptLength = number | { readonly known: number };

/** Decides how much is reserved for one request, and remembers what was decided last. */
class Sizing {
  readonly #applicant: Applicant;
  readonly #tools: AdmitTools;
  readonly #length: PromptLength;
  readonly #answers: Answers;
  #size: ReservationSize | null = null;
  #costFacts: CostFacts | undefined;
  #costs: readonly WorstCost[] = [];
  #affordable: Affordable | undefined;

  constructor(applicant: Applicant, tools: AdmitTools, length: PromptLength) {
    const { input, plan } = applicant;
    this.#applicant = applicant;
    this.#tools = tools;
    this.#length = length;
    this.#answers = answersOf(input.caller.key.hash, plan.candidates[0]?.model.id ?? '');
  }

  /** Null unless there is no limit, or far more than the request can cost: then its prompt has to be counted first. */
  withPlenty(headroom: Headroom) {
    const { affordable } = headroom;
    const isFree = affordable.creditNanos === null && affordable.totalNanos === null;
    const size = this.#sizeFor(isFree ? USUAL_CHARACTERS : FEWEST_CHARACTERS, headroom);
    if (size === null) return null;
    return size.kind === 'open' || (size.kind === 'whole' && isPlenty(size, affordable)) ? size.amount : null;
  }

  /** Null: too little. */
  exactly(headroom: Headroom) {
    return this.#sizeFor(1, headroom)?.amount ?? null;
  }

  /** What a refused request is told. */
  get shortage() {
    const affordable = this.#affordable;
    const within = affordable === undefined ? [] : this.#costs.map((cost) => tokensWithin(cost, affordable));
    return { requestedTokens: this.#costs[0]?.fullTokens ?? 0, affordableTokens: Math.max(-1, ...within) };
  }

  admission(reserved: Admission['reserved'], ledger: Ledger): Admission {
    const { generationId } = this.#applicant.input;
    const size = this.#size;
    const facts = this.#costFacts;
    if (size === null || facts === undefined) throw new Error('money was reserved before its size was known');
    return new Admission({
      generationId,
      answers: this.#answers,
      countedPrompt: typeof this.#length === 'number' ? undefined : this.#length.known,
      facts,
      costs: this.#costs,
      reserved,
      size,
      ledger,
      now: this.#tools.now,
    });
  }

  #sizeFor(charactersPerToken: number, headroom: Headroom): ReservationSize | null {
    const { request, plan, input, canBeCut } = this.#applicant;
    const { learnt, ownCredentialFee } = this.#tools;
    const length = this.#length;
    const known = learnt.of(this.#answers);
    const facts: CostFacts = {
      promptTokens:
        typeof length === 'number'
          ? Math.ceil(length / charactersPerToken)
          : promptTokens(length.known, known?.promptRatio),
      inputImages: countInputImages(request),
      maxOutputTokens: request.maxOutputTokens,
      ownCredentialFee,
      atMs: input.acceptedAtMs,
    };
    const costs = firstOf(plan.candidates).map((candidate) => new WorstCost(candidate, facts));
    this.#costFacts = facts;
    this.#costs = costs;
    this.#affordable = headroom.affordable;
    this.#size = sizeReservation(costs, headroom, {
      learntTokens: known?.longest,
      // A stream that only begins is paid as it goes; with plenty of money nobody asks.
      canTopUp: canBeCut && typeof length !== 'number',
    });
    return this.#size;
  }
}
