import { ownTraceOf, traceIdOf } from '../../ir/trace.ts';

/** How generations of a trace are found: by the id that is stored if their callers named it, or as `own`. */
export interface TraceTerm {
  readonly traceId: string;
  /** Null = the id can be of no generation's own trace. */
  readonly own: OwnTraceTerm | null;
}

/** Generations that arrived in one second and have no stored trace: their own is known by their ids. */
export interface OwnTraceTerm {
  readonly fromMs: number;
  readonly beforeMs: number;
  /** Digits of the hexadecimal SHA-256 of an id, and the place of the first of them, counted from 1. */
  readonly digits: string;
  readonly place: number;
}

/** `traceId`: 32 hexadecimal digits. */
export function traceTermOf(traceId: string): TraceTerm {
  const { arrivedFromMs, digits, skipped } = ownTraceOf(traceId);
  return {
    traceId,
    own: { fromMs: arrivedFromMs, beforeMs: arrivedFromMs + 1_000, digits, place: skipped + 1 },
  };
}

/** The trace that a text searched for may name. */
export function searchedTrace(search: string): TraceTerm {
  const traceId = traceIdOf(search);
  return IS_ID.test(search) ? traceTermOf(traceId) : { traceId, own: null };
}

/** An id of a trace as it is, or as a UUID; any other text that a caller gives stands for its hash. */
const IS_ID = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
