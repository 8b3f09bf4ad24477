import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kit/time/clock.ts';
import { openEmbeddedLedger } from '../../src/store/ledger/embedded/open-embedded-ledger.ts';
import { MemoryGenerations } from '../adapters/contracts/memory-generations.ts';
import { MemoryMark } from '../adapters/contracts/memory-mark.ts';
import { temporaryDirectory } from '../adapters/contracts/temporary-directory.ts';

const SCOPES = { key: 'k', workspace: 'w', account: 'a' };

const nanos = fc.bigInt(1n, 60n);
const credit = (creditNanos: bigint) => ({ creditNanos, byokNanos: 0n });

it('settled is the sum of distinct charges, in any order of settling, writing, pruning and restarting', async () => {
  type Step = 'rows' | 'prune' | 'restart' | { settle: bigint } | { leave: bigint };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ settle: nanos }) },
    { weight: 1, arbitrary: fc.record({ leave: nanos }) },
    { weight: 3, arbitrary: fc.constantFrom<Step>('rows', 'prune', 'restart') },
  );
  const law = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (history) => {
    const directory = temporaryDirectory();
    const generations = new MemoryGenerations();
    const mark = new MemoryMark();
    const open = () =>
      openEmbeddedLedger({
        directory: directory.path,
        generations,
        mark,
        exists: { key: new Set(['k']), workspace: new Set(['w']) },
        durability: () => 'process',
        clock: systemClock,
        warn() {},
        journal: { reservedBytes: 4096 },
      });
    let opened = await open();
    const restart = async () => {
      await opened.close();
      opened = await open();
    };
    let charged = 0n;
    try {
      for (const [index, each] of history.entries()) {
        const { ledger } = opened;
        const generationId = `g${index}`;
        const atMs = Date.now();
        if (each === 'rows') await opened.rowsCaughtUp();
        else if (each === 'prune') await generations.prune(Number.MAX_SAFE_INTEGER, 1_000);
        else if (each === 'restart') await restart();
        else {
          const used = 'settle' in each ? each.settle : each.leave;
          const limits = { key: [], workspace: [] };
          await ledger.reserve({ generationId, scopes: SCOPES, limits, atMs, row: {} }, () => credit(60n));
          const use = { used: credit(used), row: {}, atMs };
          if ('settle' in each) await ledger.settle(generationId, use);
          else await ledger.checkpoint(generationId, use);
          charged += used;
        }
      }
      await restart();
      expect(await opened.ledger.statementOf('a')).toMatchObject({
        settledNanos: charged,
        reservedNanos: 0n,
        differenceNanos: 0n,
      });
    } finally {
      await opened.close();
      directory.remove();
    }
  });
  await fc.assert(law, { numRuns: 15 });
});
