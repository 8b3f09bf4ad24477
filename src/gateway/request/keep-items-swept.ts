import { runInTurns } from '../../kit/loop/turns.ts';
import type { MemoryOutputItems } from './memory-output-items.ts';

/** How often the memory of expired output items is freed, milliseconds. */
const EVERY_MS = 60_000;

/** Has expired output items dropped every minute, also while nobody asks for any. */
export function keepItemsSwept(items: Pick<MemoryOutputItems, 'sweep'>): { close(): void } {
  const timer = setInterval(() => void runInTurns(items.sweep()), EVERY_MS).unref();
  return { close: () => clearInterval(timer) };
}
