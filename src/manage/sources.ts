import { randomBytes, randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../kit/time/clock.ts';

/** Clock and random values, injected so that tests are deterministic. */
export interface Sources {
  readonly clock: Clock;
  uuid(): string;
  /** 64 random lower-case hex digits. */
  secret(): string;
}

export const systemSources: Sources = {
  clock: systemClock,
  uuid: () => randomUUID(),
  secret: () => randomBytes(32).toString('hex'),
};
