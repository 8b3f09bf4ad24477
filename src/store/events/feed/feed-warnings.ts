/** Logged when the file of events was lost. */
export const EVENTS_LOST =
  'the file of the events is gone or was damaged; it is made anew from the rows of generations and the imports that are ' +
  'kept; sums of days before the oldest row do not come back';

/** Logged when rows cannot be fed to the events, and when that works again. */
export const FEED_WARNINGS = {
  begins: 'events cannot be brought in; what was settled waits in the rows of generations',
  ends: 'events are brought in again',
};
