export interface PriceKey {
  readonly model: string;
  /** Tag of the endpoint. */
  readonly endpoint: string;
  /** Name of the price, such as `prompt`. */
  readonly member: string;
  /** Prompts of at least so many tokens; 0 = the regular price. */
  readonly minPromptTokens: number;
}

/** A price from a moment on, until the next row of the same key. */
export interface PriceRow extends PriceKey {
  readonly sinceMs: number;
  /** Exact decimal, USD per unit; null = the endpoint no longer has this price. */
  readonly price: string | null;
}

/** Stores which prices were in force, and since when. */
export interface PriceStore {
  /** The newest row of each key. */
  newest(): Promise<readonly PriceRow[]>;
  /** Rows that are there already are left as they are. */
  add(rows: readonly PriceRow[]): Promise<void>;
  /** All rows, of one model if it is given: by key, then oldest first. */
  list(model?: string): Promise<readonly PriceRow[]>;
}
