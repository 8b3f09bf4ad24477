import { systemClock } from '../../src/kit/ids.ts';
import { openEmbeddedLedger } from '../../src/store/ledger/open-embedded-ledger.ts';
import { ledgerContract } from './ledger.ts';
import { MemoryGenerations } from './memory-generations.ts';
import { MemoryMark } from './memory-mark.ts';
import { temporaryDirectory } from './temporary-directory.ts';

ledgerContract('embedded', async () => {
  const directory = temporaryDirectory();
  const generations = new MemoryGenerations();
  const { ledger, close } = await openEmbeddedLedger({
    directory: directory.path,
    generations,
    mark: new MemoryMark(),
    exists: { key: new Set(), workspace: new Set() },
    durability: () => 'power',
    clock: systemClock,
    warn: (message, fields) => {
      throw new Error(`${message} ${JSON.stringify(fields)}`);
    },
    journal: { reservedBytes: 4096 },
  });
  return {
    ledger,
    generations,
    setTime() {},
    async close() {
      await close();
      directory.remove();
    },
  };
});
