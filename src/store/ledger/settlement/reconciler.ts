import { usdOf } from '../../../kit/money.ts';
import type { Clock } from '../../../kit/time/clock.ts';
import type { Ledger } from '../../../ports/ledger.ts';
import { interruptedUse, type OpenGeneration, type WholeRow } from '../books/open-generation.ts';

export interface ReconcilerOptions {
  /** Generations that are accepted and not settled, by id. */
  open(): ReadonlyMap<string, OpenGeneration>;
  readonly ledger: Pick<Ledger, 'settle'>;
  /** How long a generation may take, milliseconds. */
  generationMs(): number;
  readonly wholeRow?: WholeRow | undefined;
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** How often open generations are looked at, milliseconds. */
  readonly everyMs?: number | undefined;
  /** How long settling may take beyond the longest generation, milliseconds. */
  readonly leewayMs?: number | undefined;
}

const DEFAULT_EVERY_MS = 60_000;

/** An answer may be read on for a minute after its caller left, and its record may wait for the disk. */
const DEFAULT_LEEWAY_MS = 120_000;

/**
 * Settles generations that were never settled although they must have ended: without it a fault between reserving and
 * settling would hold their money until the next start. Each is charged like one that a crash interrupted.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #timer: NodeJS.Timeout;
  /** When each open generation was seen first, by the monotonic clock: the wall clock may be set. */
  #seen: ReadonlyMap<string, number> = new Map();
  /** The longest time that any generation of this process was ever allowed: a reload may lower it while some go on. */
  #longestMs = 0;
  /** Generations that are being settled by this: a database that is away may take longer than until the next look. */
  readonly #settling = new Set<string>();
  #reconciled = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), options.everyMs ?? DEFAULT_EVERY_MS).unref();
  }

  /** Generations that were settled by this since it began. Each is a fault of the gateway. */
  get reconciled(): number {
    return this.#reconciled;
  }

  /** Settles what is overdue by now. Never rejects. */
  async look(): Promise<void> {
    const overdue = this.#overdue();
    await Promise.all(overdue.map((generation) => this.#settle(generation)));
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
    const { ledger, clock, wholeRow, warn } = this.#options;
    const { generationId, scopes, reserved } = generation;
    const fields = {
      generation_id: generationId,
      account_id: scopes.account,
      reserved_usd: usdOf(reserved.creditNanos),
    };
    this.#settling.add(generationId);
    try {
      const { charge } = await ledger.settle(generationId, interruptedUse(generation, clock.now(), wholeRow));
      this.#reconciled += 1;
      warn(
        'a generation was never settled, which is a fault of the gateway: it is charged as of its last checkpoint and its reservation is released; please report it',
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
