import type { CacheMark, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { WireRole } from './wire.ts';

/** A block of the prompt on its way out, before calls are paired and cache points are set. */
export interface Piece {
  /** Of calls and results: without the id that pairs them. */
  readonly block: JsonObject;
  /** A cache point is to follow. */
  readonly mark?: Mark;
  readonly call?: ToolCallItem;
  readonly result?: ToolResultItem;
}

/** A cache mark, and where the caller wrote it. */
export interface Mark {
  readonly cache: CacheMark;
  readonly field: string;
}

/** What one side says in a row. */
export interface Turn {
  readonly role: WireRole;
  readonly pieces: readonly Piece[];
}
