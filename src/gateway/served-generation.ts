import { FREE } from '../catalog/bill.ts';
import type { ReplyContext } from '../dialects/dialect.ts';
import { NOTHING } from '../ir/amount.ts';
import type { EventBatch } from '../ir/events.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import { unfold } from '../ir/unfold.ts';
import { NO_USAGE } from '../ir/usage.ts';
import type { Clock } from '../kit/ids.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { OutputItems } from '../ports/output-items.ts';
import type { ServedAnswer } from '../stages/stage.ts';
import type { FinishedGeneration, GenerationInput, OpenedStream } from './generation.ts';
import { acceptedRow, type GenerationTimes, type PlannedGeneration, settledRow } from './generation-row.ts';
import { itemKeeper } from './item-references.ts';
import { Journey } from './journey.ts';
import type { Settlement } from './settle.ts';

/** What settling an answer needs that no model gave. */
export interface ServedParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Items that callers may refer to later. */
  readonly items: OutputItems;
  readonly tell: (generation: PlannedGeneration, settlement: Settlement, times: GenerationTimes) => void;
}

/** A request that a stage has answered. */
export interface ServedRequest {
  readonly input: GenerationInput;
  readonly request: GenerationRequest;
  readonly served: ServedAnswer;
  readonly region: string | null;
  readonly vendor: string;
}

/** An answer that costs nothing and is recorded like any other: what it needs of the ledger passes every limit. */
export class ServedGeneration {
  readonly #asked: ServedRequest;
  readonly #result: Result;
  readonly #parts: ServedParts;

  private constructor(asked: ServedRequest, result: Result, parts: ServedParts) {
    this.#asked = asked;
    this.#result = result;
    this.#parts = parts;
  }

  /** Records the generation. Rejects with LedgerUnavailable where it cannot be recorded. */
  static async settle(asked: ServedRequest, parts: ServedParts): Promise<ServedGeneration> {
    const { input, request, served, region } = asked;
    const { ledger, clock, tell } = parts;
    const now = () => clock.now();
    const settled = { usage: NO_USAGE, bill: FREE };
    const { finish } = served.result;
    const result = { ...served.result, ...(finish && { finish: { ...finish, settled } }), settled };
    const generation = { input, request, region, journey: new Journey(withoutCandidates(served.model)) };
    const settlement: Settlement = {
      ...settled,
      outcome: 'finished',
      result,
      ...(served.sourceId !== null && { servedFrom: served.sourceId }),
    };
    const endMs = Math.max(0, now() - input.acceptedAtMs);
    const times = { firstContentMs: endMs, endMs };
    const { scopes, limits } = input.caller;
    const { generationId } = input;
    const row = acceptedRow(generation);
    await ledger.reserve({ generationId, scopes, limits, atMs: now(), row }, () => NOTHING);
    const ended = settledRow(generation, settlement, times);
    await ledger.settle(generationId, { used: NOTHING, row: ended, atMs: now() });
    tell(generation, settlement, times);
    return new ServedGeneration(asked, result, parts);
  }

  async stream(): Promise<OpenedStream> {
    return { context: this.#context(), batches: once(unfold(this.#result)) };
  }

  async complete(): Promise<FinishedGeneration> {
    return { context: this.#context(), result: this.#result };
  }

  #context(): ReplyContext {
    const { input, request, vendor, served } = this.#asked;
    const { clock, items } = this.#parts;
    return {
      vendor,
      request,
      generationId: input.generationId,
      createdAtMs: input.acceptedAtMs,
      now: () => clock.now(),
      model: served.model,
      provider: served.provider,
      serviceTier: served.serviceTier,
      keepItem: itemKeeper({ input, request }, items),
    };
  }
}

/** The plan of a generation that no endpoint was looked for. */
function withoutCandidates(model: string) {
  return {
    requested: model,
    strategy: 'direct',
    candidates: [],
    rejected: [],
    pipeline: [],
    report: [],
  } as const;
}

async function* once(batch: EventBatch): AsyncGenerator<EventBatch, void, undefined> {
  yield batch;
}
