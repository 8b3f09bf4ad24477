import fc from 'fast-check';
import { afterEach, beforeEach, describe, it, vi } from 'vitest';
import { histories, liveThrough } from './journal-lives.ts';

describe('a journal on a disk that fails', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('keeps what it acknowledged, once and in order, and never gives a damaged record', async () => {
    await fc.assert(fc.asyncProperty(histories, liveThrough), { numRuns: 250 });
  });
});
