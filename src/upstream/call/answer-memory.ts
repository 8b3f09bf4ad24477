import { GatewayError } from '../../ir/errors.ts';
import type { MemoryBudget, MemoryShare } from '../../kit/loop/memory-budget.ts';
import type { UpstreamCall } from '../upstream.ts';

/** Smaller answers are not counted: thousands of them fit into what one large answer takes. */
const LARGE_BYTES = 256 * 1024;

/** Memory that an answer takes for each of its bytes: its text, its values, events, the reply, and the record. */
const MEMORY_PER_BYTE = 10;

/** How long an answer may wait for memory; its upstream waits meanwhile. */
const MAX_WAIT_MS = 30_000;

/** The memory that one answer takes, from when it is large until its reply has left. */
export class AnswerMemory {
  readonly #budget: MemoryBudget;
  readonly #call: Pick<UpstreamCall, 'accountId' | 'replied' | 'signal'>;
  #share: MemoryShare | undefined;
  /** Bytes of the answer that there is memory for. */
  #countedBytes = LARGE_BYTES;

  constructor(budget: MemoryBudget, call: Pick<UpstreamCall, 'accountId' | 'replied' | 'signal'>) {
    this.#budget = budget;
    this.#call = call;
  }

  /** Whether there is memory for `bytes` of the answer already. */
  hasRoomFor(bytes: number): boolean {
    return bytes <= this.#countedBytes;
  }

  /**
   * Waits until there is memory for `bytes` of the answer, and some more: an answer's length is mostly not known before
   * its end. Throws 503 if that takes too long.
   */
  async waitFor(bytes: number): Promise<void> {
    const { accountId = '', signal } = this.#call;
    this.#share ??= this.#budget.open(accountId);
    const counted = Math.ceil(bytes * 1.5);
    const isGranted = await this.#share.growTo(counted * MEMORY_PER_BYTE, MAX_WAIT_MS, signal);
    signal.throwIfAborted();
    if (!isGranted) throw noMemory();
    this.#countedBytes = counted;
  }

  /** The answer is read or given up; its memory is free once the reply has left. */
  end(): void {
    const share = this.#share;
    if (share === undefined) return;
    const { replied } = this.#call;
    if (replied === undefined) share.free();
    else void replied().then(() => share.free());
  }
}

function noMemory(): GatewayError {
  return new GatewayError(
    'overloaded',
    'Service temporarily unavailable: the large answers in flight take all the memory there is for them',
    { retryAfterSeconds: 1 },
  );
}
