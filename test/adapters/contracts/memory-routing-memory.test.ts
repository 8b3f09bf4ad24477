import { MemoryRoutingMemory } from '../../../src/store/routing-memory/memory-routing-memory.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { routingMemoryContract } from './routing-memory.ts';

routingMemoryContract('MemoryRoutingMemory', async () => {
  const clock = new HandClock();
  const memory = new MemoryRoutingMemory(clock);
  return { memory, other: memory, pass: async (ms) => clock.pass(ms), close: async () => {} };
});
