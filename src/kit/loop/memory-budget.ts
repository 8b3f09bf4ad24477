/** Part of the budget that the shares of one owner may take together while several owners have shares. */
const OWNER_PART = 0.75;

interface Waiting {
  readonly share: MemoryShare;
  readonly bytes: number;
  readonly settle: (isGranted: boolean) => void;
}

/**
 * Memory that all work of one kind may take together. One share always gets what it asks for, however much that is:
 * the first of those that have anything. So a single large body passes whatever the limit is, and shares that grow
 * cannot wait for each other forever.
 */
export class MemoryBudget {
  readonly #limitBytes: () => number;
  /** Shares that have something, in the order in which they got it. */
  readonly #holders = new Set<MemoryShare>();
  readonly #bytesOfOwners = new Map<string, number>();
  /** In the order of arrival. */
  readonly #waiting = new Set<Waiting>();
  #takenBytes = 0;

  constructor(limitBytes: () => number) {
    this.#limitBytes = limitBytes;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** A share that has nothing yet. `owner`: shares of one owner leave a part of the budget to others. */
  open(owner: string): MemoryShare {
    return new MemoryShare(this, owner);
  }

  /** Called by MemoryShare: gives `bytes` more at once, or returns false. Shares that wait come first. */
  tryTake(share: MemoryShare, bytes: number): boolean {
    const mayPass = this.#waiting.size === 0 || this.#holders.has(share);
    if (!mayPass || this.#obstacleOf(share, bytes) !== undefined) return false;
    this.#add(share, bytes);
    return true;
  }

  /**
   * Called by MemoryShare: gives `bytes` more as soon as there are as many; false after `waitMs`, or once
   * aborted.
   */
  take(share: MemoryShare, bytes: number, waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.tryTake(share, bytes)) return Promise.resolve(true);
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (isGranted: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(waiting);
        resolve(isGranted);
      };
      const giveUp = () => {
        settle(false);
        this.#grantWaiting();
      };
      const waiting: Waiting = { share, bytes, settle };
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener('abort', giveUp);
      this.#waiting.add(waiting);
    });
  }

  /** Called by MemoryShare. */
  takeBack(share: MemoryShare, bytes: number): void {
    if (!this.#holders.delete(share)) return;
    this.#takenBytes -= bytes;
    const left = (this.#bytesOfOwners.get(share.owner) ?? 0) - bytes;
    if (left > 0) this.#bytesOfOwners.set(share.owner, left);
    else this.#bytesOfOwners.delete(share.owner);
    this.#grantWaiting();
  }

  #add(share: MemoryShare, bytes: number): void {
    share.add(bytes);
    this.#holders.add(share);
    this.#takenBytes += bytes;
    this.#bytesOfOwners.set(share.owner, (this.#bytesOfOwners.get(share.owner) ?? 0) + bytes);
  }

  /** Why a share gets no more bytes: the common limit, or that of its owner; undefined = it gets them. */
  #obstacleOf(share: MemoryShare, bytes: number): 'limit' | 'owner' | undefined {
    const [first = share] = this.#holders;
    if (first === share) return undefined;
    const limit = this.#limitBytes();
    if (this.#takenBytes + bytes > limit) return 'limit';
    const ofOwner = this.#bytesOfOwners.get(share.owner) ?? 0;
    return ofOwner > 0 && ofOwner + bytes > limit * OWNER_PART ? 'owner' : undefined;
  }

  /** Shares behind one that waits for the common limit wait too: else small ones would keep a large one out. */
  #grantWaiting(): void {
    let isFull = false;
    for (const { share, bytes, settle } of this.#waiting) {
      // The first holder gets its bytes behind a full budget too: the others wait for it.
      const obstacle = this.#obstacleOf(share, bytes);
      if (obstacle === 'limit') isFull = true;
      if (obstacle !== undefined || (isFull && !this.#holders.has(share))) continue;
      this.#add(share, bytes);
      settle(true);
    }
  }
}

/** The share of one piece of work in a budget. `free` must be called once it needs no memory any more. */
export class MemoryShare {
  readonly owner: string;
  readonly #budget: MemoryBudget;
  #bytes = 0;
  #isFreed = false;

  constructor(budget: MemoryBudget, owner: string) {
    this.#budget = budget;
    this.owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  tryGrowTo(bytes: number): boolean {
    return bytes <= this.#bytes || this.#budget.tryTake(this, bytes - this.#bytes);
  }

  /** Grows to `bytes` as soon as there are as many; false after `waitMs`, or once aborted. */
  async growTo(bytes: number, waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (bytes <= this.#bytes) return true;
    const isGranted = await this.#budget.take(this, bytes - this.#bytes, waitMs, signal);
    if (this.#isFreed) this.free();
    return isGranted;
  }

  free(): void {
    this.#isFreed = true;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#budget.takeBack(this, bytes);
  }

  /** Called by MemoryBudget when the share grows. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }
}
