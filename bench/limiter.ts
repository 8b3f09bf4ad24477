import type { RateLimit } from '../src/ports/shared/limiter.ts';
import { MemoryLimiter } from '../src/store/rate-limits/memory-limiter.ts';

/** What counting a request costs, with a minute and a day limit, for 1 and for 10,000 keys. */
const REQUESTS = 1_000_000;

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

for (const keys of [1, 10_000]) {
  const limiter = new MemoryLimiter(clock);
  const limits = Array.from({ length: keys }, (_, index): RateLimit[] => {
    const subject = index.toString(16).padStart(64, '0');
    return [
      { name: 'requests-per-minute', subject, window: 'minute', unit: 'requests', max: 1e9 },
      { name: 'requests-per-day', subject, window: 'day', unit: 'requests', max: 1e9 },
    ];
  });
  for (let round = 0; round < 2; round++) {
    const started = performance.now();
    for (let index = 0; index < REQUESTS; index++) await limiter.take(limits[index % keys] as RateLimit[]);
    const micros = ((performance.now() - started) * 1000) / REQUESTS;
    if (round === 1) console.log(`${keys} keys: ${micros.toFixed(2)} us a request`);
  }
}
