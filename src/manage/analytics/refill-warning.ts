/** Warning in answers that are made from events while these are being filled again. */
export const REFILL_WARNING =
  'events are being filled again after they were lost or unavailable: usage may be missing until that is done';
