import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';

/**
 * Why a generation used, or may have used, more than it is charged. The first five exceeded its reservation: the
 * prompt, the output, web searches, other tools that the upstream or a service ran, or the price of the endpoint.
 * `released`: its reservation was released before it was booked. `disputed`: the upstream reported more than can be
 * true. `abandoned`: the caller left before the upstream had reported its use. `dropped`: the answer was empty, broke
 * off or could not be read. `time_limit`: the call passed a time limit. `cut`: the gateway itself ended the call: a
 * tool or a guardrail gave it up, the money was used up, or the gateway stopped.
 */
export const WRITE_OFF_CAUSES = [
  'prompt',
  'output',
  'searches',
  'tools',
  'price',
  'released',
  'disputed',
  'abandoned',
  'dropped',
  'time_limit',
  'cut',
] as const;

export type WriteOffCause = (typeof WRITE_OFF_CAUSES)[number];

/** Cause of an excess over the reservation that has none of its own. */
export const UNNAMED_CAUSE: WriteOffCause = 'output';

/** A cost that an upstream may bill and that is charged to no account. */
export interface WriteOff {
  readonly cause: WriteOffCause;
  readonly nanos: Nanos;
}

/** Both lists, with one entry for each cause. */
export function plusWriteOffs(
  one: readonly WriteOff[] | undefined,
  other: readonly WriteOff[] | undefined,
): readonly WriteOff[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sums = new Map(one.map(({ cause, nanos }) => [cause, nanos]));
  for (const { cause, nanos } of other) sums.set(cause, (sums.get(cause) ?? 0n) + nanos);
  return [...sums].map(([cause, nanos]) => ({ cause, nanos }));
}

/** A write-off as rows have it. A type, so that it is a JSON object. */
export type WriteOffRow = { readonly cause: WriteOffCause; readonly nanos: string };

export function writeOffRows(writeOffs: readonly WriteOff[]): WriteOffRow[] {
  return writeOffs.map(({ cause, nanos }) => ({ cause, nanos: String(nanos) }));
}

export function writeOffsOf({ write_offs: rows }: JsonObject): WriteOff[] {
  return Array.isArray(rows) ? rows.filter(isJsonObject).flatMap(writeOffOf) : [];
}

/** What a generation is not charged, as its record has it. */
export interface WrittenOff {
  readonly writtenOffNanos: Nanos;
  /** The cause of the largest part; null when nothing was written off. */
  readonly writtenOffCause: WriteOffCause | null;
  /** The row of the generation. Each part stands in its `write_offs`. */
  readonly row: JsonObject;
}

/**
 * The parts of what a generation is not charged. What its row does not list has the cause of the record: a reservation
 * may be released after the row was made.
 */
export function writeOffsIn({ writtenOffNanos, writtenOffCause, row }: WrittenOff): readonly WriteOff[] {
  if (writtenOffNanos === 0n) return [];
  const listed = writeOffsOf(row);
  const unlisted = listed.reduce((left, { nanos }) => left - nanos, writtenOffNanos);
  if (unlisted <= 0n) return listed;
  return plusWriteOffs(listed, [{ cause: writtenOffCause ?? UNNAMED_CAUSE, nanos: unlisted }]) ?? listed;
}

function writeOffOf({ cause, nanos }: JsonObject): WriteOff[] {
  const known = WRITE_OFF_CAUSES.find((each) => each === cause);
  return known === undefined || typeof nanos !== 'string' ? [] : [{ cause: known, nanos: BigInt(nanos) }];
}
