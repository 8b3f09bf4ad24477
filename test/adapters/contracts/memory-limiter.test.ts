import { MemoryLimiter } from '../../../src/store/rate-limits/memory-limiter.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { limiterContract } from './limiter.ts';

const LENGTHS_MS = { minute: 60_000, day: 86_400_000 };

let clock = new HandClock();

limiterContract(
  'MemoryLimiter',
  () => clock.now(),
  async () => {
    clock = new HandClock();
    const limiter = new MemoryLimiter(clock);
    return {
      limiter,
      other: limiter,
      endWindows: async (window) => clock.pass(LENGTHS_MS[window]),
      close: async () => {},
    };
  },
);
