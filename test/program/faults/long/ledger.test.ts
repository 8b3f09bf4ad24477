import fc from 'fast-check';
import { afterEach, beforeEach, describe, it, vi } from 'vitest';
import { ledgerHistories, liveWithLedger } from '../ledger-lives.ts';

describe('a ledger on a disk that fails', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('loses nothing that it said was settled, settles nothing twice and leaves nothing open', async () => {
    await fc.assert(fc.asyncProperty(ledgerHistories, liveWithLedger), { numRuns: 3_000 });
  });
});
