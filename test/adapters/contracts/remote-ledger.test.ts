import { systemClock } from '../../../src/kit/time/clock.ts';
import type { Ledger } from '../../../src/ports/money/ledger.ts';
import { openEmbeddedLedger } from '../../../src/store/ledger/embedded/open-embedded-ledger.ts';
import { Channel } from '../../../src/workers/channel/channel.ts';
import { type LedgerCalls, RemoteLedger } from '../../../src/workers/ports/remote-ledger.ts';
import { ServedLedger } from '../../../src/workers/ports/served-ledger.ts';
import { channelEnds, dropEnd } from '../../kit/fakes/socket-pair.ts';
import { ledgerContract } from './ledger.ts';
import { MemoryGenerations } from './memory-generations.ts';
import { MemoryMark } from './memory-mark.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const METHODS = ['reserve', 'topUp', 'checkpoint', 'settle', 'void'] as const;

// What generations do goes through a socket; what only the owner does is asked of its ledger directly.
ledgerContract('embedded, through the channel of a worker', async () => {
  const directory = temporaryDirectory();
  const generations = new MemoryGenerations();
  const warnings: string[] = [];
  const opened = await openEmbeddedLedger({
    directory: directory.path,
    generations,
    mark: new MemoryMark(),
    exists: { key: new Set(), workspace: new Set() },
    durability: () => 'power',
    clock: systemClock,
    warn: (message) => warnings.push(message),
    journal: { reservedBytes: 4096 },
  });
  const ends = await channelEnds();
  const served = new ServedLedger(opened.ledger, opened.settleInterrupted);
  const events = { closed: () => {}, failed: (name: string) => warnings.push(name) };
  new Channel(ends[0], Object.fromEntries(METHODS.map((name) => [name, served[name]])), events);
  const channel = new Channel<Pick<LedgerCalls, keyof LedgerCalls>, Record<string, never>>(
    ends[1],
    {},
    events,
  );
  const calls = Object.fromEntries(
    METHODS.map((name) => [name, (...args: never[]) => channel.call(name, ...(args as never))]),
  ) as unknown as LedgerCalls;
  const remote = new RemoteLedger(calls);
  const ledger = new Proxy(opened.ledger, {
    get(target, name) {
      const source = METHODS.includes(name as (typeof METHODS)[number]) ? remote : target;
      const member = Reflect.get(source, name, source) as unknown;
      return typeof member === 'function' ? member.bind(source) : member;
    },
  }) as Ledger;
  return {
    ledger,
    generations,
    setTime() {},
    warnings,
    async close() {
      for (const end of ends) dropEnd(end);
      await opened.close();
      directory.remove();
    },
  };
});
