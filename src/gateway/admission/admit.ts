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
import { type Prompt, USUAL_CHARACTERS } from '../estimate.ts';
import type { GenerationInput } from '../generation.ts';
import { countInputImages } from '../input-images.ts';
import type { Plan } from '../plan.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { Admission } from './admission.ts';
import { type Answers, answersOf, type LearntLengths } from './learnt-lengths.ts';
import { refused } from './refused.ts';
import { type ReservationSize, sizeReservation, tokensWithin } from './reservation-size.ts';
import { type SearchesAsked, searchesAskedBy } from './searches-asked.ts';
import { type CostFacts, USUAL_SEARCHES, WorstCost } from './worst-cost.ts';

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

/** Characters of a token at the worst, but for scripts that hardly any prompt is written in. */
const FEWEST_CHARACTERS = 1;

/** Money for so many requests like this one: exact counting is not worth its time. */
const PLENTY = 8n;

/** How many more tokens an upstream may count than we do, at least, and what it puts around a prompt. */
const COUNT_SLACK = 1.1;
const COUNT_EXTRA = 8;

/** Tokens of an image, at most: what the largest pictures count for at the providers that count most. */
const IMAGE_TOKENS = 5_000;

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

/**
 * Tokens that an upstream will count of a prompt's text, at most. `ratio`: how many times our own count that was lately.
 * What was learnt only ever raises it: other texts are counted otherwise.
 */
function promptTokens(counted: number, ratio = 0): number {
  return Math.ceil(counted * Math.max(ratio, COUNT_SLACK)) + COUNT_EXTRA;
}

/** Numbers of searches to reserve for, from all that are wanted down to a single one. */
function* fewerAndFewer(wanted: number): Generator<number> {
  for (let searches = wanted; searches > 1; searches = Math.floor(searches / 2)) yield searches;
  yield 1;
}

function billsAbandoned({ endpoint }: Plan['candidates'][number]): boolean {
  return endpoint.provider.quirks.billsAbandoned === true;
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
  readonly #searchesAsked: SearchesAsked;
  #size: ReservationSize | null = null;
  #costFacts: CostFacts | undefined;
  #costs: readonly WorstCost[] = [];
  #affordable: Affordable | undefined;

  constructor(applicant: Applicant, tools: AdmitTools, length: PromptLength) {
    const { input, plan, request } = applicant;
    this.#applicant = applicant;
    this.#searchesAsked = searchesAskedBy(request);
    this.#tools = tools;
    this.#length = length;
    this.#answers = answersOf(input.caller.key.hash, plan.candidates[0]?.model.id ?? '');
  }

  /** Null unless there is no limit, or far more than the request can cost: then its prompt has to be counted first. */
  withPlenty(headroom: Headroom) {
    const { affordable } = headroom;
    const isFree = affordable.creditNanos === null && affordable.totalNanos === null;
    const size = this.#sizeFor(isFree ? USUAL_CHARACTERS : FEWEST_CHARACTERS, headroom, USUAL_SEARCHES);
    if (size === null) return null;
    return size.kind === 'open' || (size.kind === 'whole' && isPlenty(size, affordable)) ? size.amount : null;
  }

  /** Null: too little. Fewer searches are paid for where the answer would otherwise be cut short. */
  exactly(headroom: Headroom) {
    for (const searches of fewerAndFewer(this.#searchesWanted())) {
      const size = this.#sizeFor(1, headroom, searches);
      if (size !== null && (size.kind !== 'rest' || searches === 1)) return size.amount;
    }
    return null;
  }

  /** The most that a candidate would run. */
  #searchesWanted(): number {
    let wanted = 0;
    for (const { endpoint } of firstOf(this.#applicant.plan.candidates)) {
      wanted = Math.max(wanted, this.#searchesAsked(endpoint).most);
    }
    return Math.min(wanted, USUAL_SEARCHES);
  }

  /** What a refused request is told. */
  get shortage() {
    const affordable = this.#affordable;
    const within = affordable === undefined ? [] : this.#costs.map((cost) => tokensWithin(cost, affordable));
    const [first] = this.#costs;
    return {
      requestedTokens: first?.fullTokens ?? 0,
      affordableTokens: Math.max(-1, ...within),
      // Where the text alone is short, the caller wonders what is dear.
      filledContext: this.#costFacts?.mayFillContext ? first?.promptTokens : undefined,
    };
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

  #sizeFor(charactersPerToken: number, headroom: Headroom, searches: number): ReservationSize | null {
    const { request, prompt, plan, input, canBeCut } = this.#applicant;
    const { learnt, ownCredentialFee } = this.#tools;
    const length = this.#length;
    const known = learnt.of(this.#answers);
    const { images, documents } = prompt.media;
    const ofText =
      typeof length === 'number'
        ? Math.ceil(length / charactersPerToken)
        : promptTokens(length.known, known?.promptRatio);
    const facts: CostFacts = {
      promptTokens: ofText + images * IMAGE_TOKENS,
      mayFillContext: documents > 0,
      inputImages: countInputImages(request),
      searchesAsked: this.#searchesAsked,
      mostSearches: searches,
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
      // A stream that is begun with little is paid as it goes. One that is billed to its end whatever we read is not.
      canTopUp: canBeCut && typeof length !== 'number' && !plan.candidates.some(billsAbandoned),
    });
    return this.#size;
  }
}
