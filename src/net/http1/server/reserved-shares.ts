/** The name of the share that a request belongs to; undefined if it has none. */
export type ShareOf = (method: string, target: string) => string | undefined;

/** Requests of one turn and share that are parsed before the arrivals that wait. */
export const MAX_RESERVED_PER_TURN = 8;

/**
 * Characters of a first line that are examined, which takes about a microsecond. A longer one waits with the others.
 */
const MAX_LINE_CHARACTERS = 256;

const FIRST_LINE = /^([A-Z]+) ([\x21-\x7e]+) HTTP\/1\.[01]\r?\n/;

/**
 * Shares of each turn of the event loop that are kept for some requests while many arrive: probes and management must
 * not wait in the line of a flood.
 */
export class ReservedShares {
  readonly #shareOf: ShareOf;
  readonly #taken = new Map<string, number>();

  constructor(shareOf: ShareOf) {
    this.#shareOf = shareOf;
  }

  /** Whether the request that begins with `bytes` has a share, and something is left of it in this turn. */
  take(bytes: Buffer): boolean {
    const [, method, target] = FIRST_LINE.exec(bytes.toString('latin1', 0, MAX_LINE_CHARACTERS)) ?? [];
    const share = method && target && this.#shareOf(method, target);
    if (!share) return false;
    const taken = this.#taken.get(share) ?? 0;
    if (taken >= MAX_RESERVED_PER_TURN) return false;
    if (this.#taken.size === 0) setImmediate(this.#endTurn);
    this.#taken.set(share, taken + 1);
    return true;
  }

  readonly #endTurn = (): void => {
    this.#taken.clear();
  };
}
