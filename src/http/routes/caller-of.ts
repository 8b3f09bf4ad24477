import type { Caller } from '../../ports/caller.ts';
import type { Call } from './route.ts';

/** Whoever calls a route that requires a key. */
export function callerOf({ caller }: Call): Caller {
  if (caller === undefined) throw new Error('this route must require a key');
  return caller;
}
