import { afterEach, beforeEach, describe, it } from 'vitest';
import { temporaryDirectory } from '../../../adapters/contracts/temporary-directory.ts';
import { killAgainAndAgain } from '../ledger-killing.ts';

/** How often: `KILLED_LIVES=200 npm run test:faults`. */
const KILLS = Number(process.env.KILLED_LIVES ?? 50);

describe('a ledger whose process is killed', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;

  beforeEach(() => {
    temporary = temporaryDirectory();
  });

  afterEach(() => temporary.remove());

  it('loses nothing that was settled, charges nothing twice and leaves nothing open', async () => {
    await killAgainAndAgain(temporary.path, KILLS);
  });
});
