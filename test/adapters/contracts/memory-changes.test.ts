import { MemoryChanges } from '../../../src/store/changes/memory-changes.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { changesContract } from './changes.ts';

changesContract('in memory', async () => {
  const clock = new HandClock();
  return { here: new MemoryChanges(clock), now: () => clock.monotonic() };
});
