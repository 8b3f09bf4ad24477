import { systemClock } from '../../../src/kit/time/clock.ts';
import { openEmbeddedLedger } from '../../../src/store/ledger/embedded/open-embedded-ledger.ts';
import { ledgerContract } from './ledger.ts';
import { MemoryGenerations } from './memory-generations.ts';
import { MemoryMark } from './memory-mark.ts';
import { temporaryDirectory } from './temporary-directory.ts';

ledgerContract('embedded', async () => {
  const directory = temporaryDirectory();
  const generations = new MemoryGenerations();
  const warnings: string[] = [];
  const { ledger, close } = await openEmbeddedLedger({
    directory: directory.path,
    generations,
    mark: new MemoryMark(),
    exists: { key: new Set(), workspace: new Set() },
    durability: () => 'power',
    clock: systemClock,
    warn: (message) => warnings.push(message),
    journal: { reservedBytes: 4096 },
  });
  return {
    ledger,
    generations,
    setTime() {},
    warnings,
    async close() {
      await close();
      directory.remove();
    },
  };
});
