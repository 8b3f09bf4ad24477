/** Which ends of a gateway's journal are booked: those up to `bookedTo`, but not those listed. A value. */
export interface BookedEnds {
  /** The sequence of a record. */
  readonly bookedTo: number;
  /** Sequences of ends up to there that wait to be booked. */
  readonly unbooked: ReadonlySet<number>;
}

/** No end is booked. */
export const NONE_BOOKED: BookedEnds = { bookedTo: 0, unbooked: new Set() };

/** Whether the end of this sequence is booked. */
export function isBooked({ bookedTo, unbooked }: BookedEnds, sequence: number): boolean {
  return sequence <= bookedTo && !unbooked.has(sequence);
}

/**
 * What is booked once a batch is too. `waiting` are the ends of the gateway that are not in the batch. One that counted as
 * booked before stays so: the gateway may have lost the answer that said so.
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
