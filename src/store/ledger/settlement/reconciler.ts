import { usdOf } from '../../../kit/money.ts';
import type { Clock } from '../../../kit/time/clock.ts';
import type { Ledger } from '../../../ports/money/ledger.ts';
import { type CompleteRow, interruptedUse, type OpenGeneration } from '../books/open-generation.ts';

export interface ReconcilerOptions {
  open(): ReadonlyMap<string, OpenGeneration>;
  readonly ledger: Pick<Ledger, 'settle'>;
  generationMs(): number;
  readonly completeRow?: CompleteRow | undefined;
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Interval of `settleOverdue`, milliseconds. */
  readonly everyMs?: number | undefined;
  /** Time for settling after the longest duration, milliseconds. */
  readonly leewayMs?: number | undefined;
}

const DEFAULT_EVERY_MS = 60_000;

/** An answer is read for up to a minute after its caller left, and its record may wait for the disk. */
const DEFAULT_LEEWAY_MS = 120_000;

/**
 * Settles open generations that must have ended long ago. Without it a fault between reserving and settling would hold
 * their money until the next start. Each is charged like one that a crash interrupted.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #timer: NodeJS.Timeout;
  /** When each open generation was first seen, by the monotonic clock, because the wall clock may be set. */
  #seen: ReadonlyMap<string, number> = new Map();
  /** Maximum of `generationMs` so far: a reload may lower it while older generations run. */
  #longestMs = 0;
  /** Generations being settled here: with an unavailable database that may take longer than an interval. */
  readonly #settling = new Set<string>();
  #reconciled = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.settleOverdue(), options.everyMs ?? DEFAULT_EVERY_MS).unref();
  }

  /** Generations settled here since the start. Each is a fault of the gateway. */
  get reconciled(): number {
    return this.#reconciled;
  }

  /** Settles overdue generations. Never rejects. */
  async settleOverdue(): Promise<void> {
    const overdue = this.#overdue();
    await Promise.all(overdue.map((generation) => this.#settle(generation)));
  }

  /**
   * Settles open generations by their last checkpoints, because the process that ran them is gone. Those that are not
   * open are left alone. Never rejects: what cannot be settled now is overdue later.
   */
  async settleInterrupted(ids: readonly string[]): Promise<void> {
    const { open, ledger, clock, completeRow, warn } = this.#options;
    const settle = async (id: string) => {
      const generation = open().get(id);
      if (generation === undefined) return;
      try {
        await ledger.settle(id, interruptedUse(generation, clock.now(), completeRow));
      } catch (error) {
        warn('a generation of a process that is gone could not be settled now', { generation_id: id, error });
      }
    };
    await Promise.all(ids.map(settle));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #overdue(): OpenGeneration[] {
    const { open, clock, generationMs, leewayMs = DEFAULT_LEEWAY_MS } = this.#options;
    this.#longestMs = Math.max(this.#longestMs, generationMs());
    const nowMs = clock.monotonic();
    const seen = new Map<string, number>();
    const overdue: OpenGeneration[] = [];
    for (const [id, generation] of open()) {
      const firstMs = this.#seen.get(id) ?? nowMs;
      seen.set(id, firstMs);
      const isOverdue = nowMs - firstMs > this.#longestMs + leewayMs;
      if (isOverdue && !this.#settling.has(id)) overdue.push(generation);
    }
    this.#seen = seen;
    return overdue;
  }

  async #settle(generation: OpenGeneration): Promise<void> {
    const { ledger, clock, completeRow, warn } = this.#options;
    const { generationId, scopes, reserved } = generation;
    const fields = {
      generation_id: generationId,
      account_id: scopes.account,
      reserved_usd: usdOf(reserved.creditNanos),
    };
    this.#settling.add(generationId);
    try {
      const { charge } = await ledger.settle(
        generationId,
        interruptedUse(generation, clock.now(), completeRow),
      );
      this.#reconciled += 1;
      warn(
        'a generation was never settled, which is a fault of the gateway: it is charged as of its last ' +
          'checkpoint and its reservation is released; please report it',
        { ...fields, charged_usd: usdOf(charge.creditNanos) },
      );
    } catch (error) {
      warn('a generation that was never settled could not be settled now; it is tried again in a minute', {
        ...fields,
        error,
      });
    } finally {
      this.#settling.delete(generationId);
    }
  }
}
