/** Booked ends of a gateway's journal: all up to `bookedTo` except those in `unbooked`. Immutable. */
export interface BookedEnds {
  /** Sequence of a record. */
  readonly bookedTo: number;
  /** Sequences up to `bookedTo` that are not booked yet. */
  readonly unbooked: ReadonlySet<number>;
}

export function isBooked({ bookedTo, unbooked }: BookedEnds, sequence: number): boolean {
  return sequence <= bookedTo && !unbooked.has(sequence);
}
