/** Brings generations to the event store, in the background. */
export interface EventFeed {
  /** Hands all over again that have rows: what is there already changes nothing. Resolves with how many events there are. */
  refill(): Promise<number>;
}
