import type { GatewayError } from '../../../ir/errors.ts';
import { invalidRequest } from '../../../ir/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';

/**
 * Pieces of one request, at most: items, parts, calls and tools. Parsing and rendering are single steps on the event
 * loop and take some microseconds a piece.
 */
export const MAX_REQUEST_PIECES = 10_000;

/** Members of an item, part or tool with further pieces. */
const LISTS = ['content', 'tool_calls', 'output', 'reasoning_details', 'summary', 'images', 'tools'] as const;

/** Depth of nested lists of pieces: a message, its parts, the parts of a tool result in it. */
const MAX_LIST_LEVELS = 3;

/**
 * Throws 400 if the lists of a caller's body have more pieces than one request may have. The first list stands for all
 * in the error.
 */
export function refuseManyPieces(body: JsonObject, lists: readonly [string, ...string[]]): void {
  let left = MAX_REQUEST_PIECES;
  for (const list of lists) {
    left -= piecesIn(body[list], left, MAX_LIST_LEVELS);
    if (left < 0) throw tooManyPieces(lists[0]);
  }
}

export function tooManyPieces(path: string): GatewayError {
  const message = `must hold at most ${MAX_REQUEST_PIECES} messages, parts, calls and tools in all`;
  return invalidRequest([{ path, message }]);
}

/** Pieces of a list and of the lists in it; counting stops beyond `most`. */
function piecesIn(list: Json | undefined, most: number, depth: number): number {
  if (!Array.isArray(list)) return 0;
  let count = list.length;
  if (depth === 1) return count;
  for (const piece of list) {
    if (count > most) break;
    if (!isJsonObject(piece)) continue;
    for (const name of LISTS) {
      const inner = piece[name];
      if (Array.isArray(inner)) count += piecesIn(inner, most - count, depth - 1);
    }
  }
  return count;
}
