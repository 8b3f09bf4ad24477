import { GatewayError } from '../../ir/errors.ts';
import type { MemoryBudget, MemoryShare } from '../../kit/loop/memory-budget.ts';
import type { HttpExchange } from '../exchange/http-exchange.ts';

/** Smaller bodies are not counted: thousands of them fit into what one large body takes. */
const LARGE_BYTES = 256 * 1024;

/** Memory that a body takes for each of its bytes: its text, its values, and the upstream's request made from them. */
const MEMORY_PER_BYTE = 6;

/** How long a body may wait for memory. */
const MAX_WAIT_MS = 20_000;

export function isLargeBody(bytes: number): boolean {
  return bytes > LARGE_BYTES;
}

export class BodyMemory {
  readonly #budget: MemoryBudget;
  readonly #exchange: HttpExchange;
  #share: MemoryShare | undefined;
  /** Bytes of the body that there is memory for. */
  #countedBytes = LARGE_BYTES;

  constructor(budget: MemoryBudget, exchange: HttpExchange) {
    this.#budget = budget;
    this.#exchange = exchange;
  }

  /** Waits until there is memory for a body of `bytes`. Throws 503 if that takes too long. */
  async waitFor(bytes: number): Promise<void> {
    const isGranted = await this.#open().growTo(bytes * MEMORY_PER_BYTE, MAX_WAIT_MS, this.#exchange.signal);
    this.#exchange.signal.throwIfAborted();
    if (!isGranted) throw noMemory();
    this.#countedBytes = bytes;
  }

  /** Whether there is memory for `bytes` of a body whose length is not known before its end. */
  hasRoomFor(bytes: number): boolean {
    if (bytes <= this.#countedBytes) return true;
    const counted = bytes * 2;
    if (!this.#open().tryGrowTo(counted * MEMORY_PER_BYTE)) return false;
    this.#countedBytes = counted;
    return true;
  }

  free(): void {
    this.#share?.free();
  }

  #open(): MemoryShare {
    this.#share ??= this.#budget.open(this.#exchange.caller?.accountId ?? '');
    return this.#share;
  }
}

export function noMemory(): GatewayError {
  return new GatewayError(
    'overloaded',
    'Service temporarily unavailable: the large requests in flight take all the memory there is for them',
    { retryAfterSeconds: 1 },
  );
}
