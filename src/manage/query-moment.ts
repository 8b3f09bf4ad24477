import { invalidRequest } from '../ir/errors.ts';
import { utcUnlessSaidMs } from '../kit/time/iso-moment.ts';

/** What is wrong with a text that is no moment. */
export const NO_MOMENT = 'must be an ISO 8601 timestamp such as 2030-01-31T12:00:00Z';

/** Reads a moment of a query in epoch milliseconds; throws a 400 with its path if it is none. */
export function queryMomentMs(path: string, text: string): number {
  const ms = utcUnlessSaidMs(text);
  if (ms === undefined) throw invalidRequest([{ path, message: NO_MOMENT }]);
  return ms;
}
