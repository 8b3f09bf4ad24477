import { FREE } from '../../catalog/prices/bill.ts';
import type { ReplyContext } from '../../dialects/dialect.ts';
import type { EventBatch } from '../../ir/events.ts';
import { unfold } from '../../ir/folding/unfold.ts';
import type { Result } from '../../ir/result.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { OutputItems } from '../../ports/shared/output-items.ts';
import type { ServedAnswer } from '../../stages/stage.ts';
import type { Settlement } from '../record/settle.ts';
import { itemKeeper } from '../request/item-references.ts';
import type { FinishedGeneration, OpenedStream } from './opened-generation.ts';
import {
  settleUnserved,
  type UnservedDependencies,
  type UnservedRequest,
  unservedGeneration,
} from './unserved.ts';

export interface ServedDependencies extends UnservedDependencies {
  readonly items: OutputItems;
}

export interface ServedRequest extends UnservedRequest {
  readonly served: ServedAnswer;
  readonly vendor: string;
}

/** An answer that a stage gave, recorded like any other. It costs the charges of stages, mostly nothing. */
export class ServedGeneration {
  readonly #asked: ServedRequest;
  readonly #result: Result;
  readonly #dependencies: ServedDependencies;

  private constructor(asked: ServedRequest, result: Result, dependencies: ServedDependencies) {
    this.#asked = asked;
    this.#result = result;
    this.#dependencies = dependencies;
  }

  /** Records the generation. Rejects with LedgerUnavailable if it cannot be recorded. */
  static async settle(asked: ServedRequest, dependencies: ServedDependencies): Promise<ServedGeneration> {
    const { served, reservation } = asked;
    const settled = { usage: NO_USAGE, bill: { ...FREE, totalNanos: reservation.charged.creditNanos } };
    const { finish } = served.result;
    const result = { ...served.result, ...(finish && { finish: { ...finish, settled } }), settled };
    const settlement: Settlement = {
      ...settled,
      outcome: 'finished',
      result,
      ...(served.sourceId !== null && { servedFrom: served.sourceId }),
    };
    await settleUnserved(unservedGeneration(asked, served.model), settlement, reservation, dependencies);
    return new ServedGeneration(asked, result, dependencies);
  }

  async stream(): Promise<OpenedStream> {
    return { context: this.#context(), batches: once(unfold(this.#result)) };
  }

  async complete(): Promise<FinishedGeneration> {
    return { context: this.#context(), result: this.#result };
  }

  #context(): ReplyContext {
    const { input, request, vendor, served } = this.#asked;
    const { clock, items } = this.#dependencies;
    return {
      vendor,
      request,
      generationId: input.generationId,
      createdAtMs: input.acceptedAtMs,
      now: () => clock.now(),
      model: served.model,
      provider: served.provider,
      serviceTier: served.serviceTier,
      keepItem: itemKeeper({ input, request, models: () => [served.model] }, items),
    };
  }
}

async function* once(batch: EventBatch): AsyncGenerator<EventBatch, void, undefined> {
  yield batch;
}
