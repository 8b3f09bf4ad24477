/** Booked ends of a gateway's journal: all up to `bookedTo` except those in `unbooked`. Immutable. */
export interface BookedEnds {
  /** Sequence of a record. */
  readonly bookedTo: number;
  /** Sequences up to `bookedTo` that are not booked yet. */
  readonly unbooked: ReadonlySet<number>;
}

/** No end is booked. */
export const NONE_BOOKED: BookedEnds = { bookedTo: 0, unbooked: new Set() };

/** Whether the end of this sequence is booked. */
export function isBooked({ bookedTo, unbooked }: BookedEnds, sequence: number): boolean {
  return sequence <= bookedTo && !unbooked.has(sequence);
}

/**
 * The booked ends after a batch. `waiting`: the gateway's unbooked ends outside the batch. An end that counted as
 * booked stays booked: the gateway may have lost the answer to that booking.
 */
export function withBooked(
  before: BookedEnds,
  batch: readonly number[],
  waiting: readonly number[],
): BookedEnds {
  const bookedTo = batch.reduce((highest, sequence) => Math.max(highest, sequence), before.bookedTo);
  const unbooked = new Set(before.unbooked);
  for (const sequence of waiting) {
    if (sequence > before.bookedTo && sequence <= bookedTo) unbooked.add(sequence);
  }
  for (const sequence of batch) unbooked.delete(sequence);
  return { bookedTo, unbooked };
}
