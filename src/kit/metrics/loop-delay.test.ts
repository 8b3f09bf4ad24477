import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopDelay } from './loop-delay.ts';

test('a loop that was held up is seen to have been', async () => {
  const loopDelay = new LoopDelay();
  try {
    await delay(60);
    const until = performance.now() + 150;
    while (performance.now() < until);
    await delay(60);
    const [median, , longest] = loopDelay.read();
    expect(longest?.[0]).toBe('1');
    expect(longest?.[1]).toBeGreaterThan(0.1);
    expect(median?.[1]).toBeLessThan(0.1);
  } finally {
    loopDelay.close();
  }
});
