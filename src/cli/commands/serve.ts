import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Flags } from '../../config/runtime.ts';

/** Starts the gateway. Its code is loaded here, because other commands do not need it. */
export async function serve(flags: Flags, asJson: boolean): Promise<void> {
  definePlainGlobals();
  limitGarbage();
  const { startGateway } = await import('./start-gateway.ts');
  await startGateway({ flags, asJson });
}

const MIB = 1024 * 1024;

/** Garbage that may accumulate between two full collections. */
const GARBAGE_BYTES = 32 * MIB;

/** Bounds of the growth between two full collections: without them a small heap would be collected all the time. */
const MAX_GROWTH_PERCENT = 100;
const MIN_GROWTH_PERCENT = 20;
const PERCENT_STEP = 10;

/** Allowed growth, in percent, of a heap with `liveBytes` in use. */
export function growthOf(liveBytes: number): number {
  const percent = Math.round(((GARBAGE_BYTES / liveBytes) * 100) / PERCENT_STEP) * PERCENT_STEP;
  return Math.min(MAX_GROWTH_PERCENT, Math.max(MIN_GROWTH_PERCENT, percent));
}

/**
 * Makes V8 collect garbage earlier. By default a small heap may grow fourfold between two full collections; a gateway
 * holds data for as long as slow readers take, so its memory would double with garbage. The cost of a full collection
 * grows with the heap, so the limit is an amount of garbage (GARBAGE_BYTES), not a fixed percentage.
 */
export function limitGarbage(): void {
  let growth = MAX_GROWTH_PERCENT;
  allowGrowth(growth);
  new PerformanceObserver((list) => {
    if (!list.getEntries().some(isFullCollection)) return;
    const next = growthOf(getHeapStatistics().used_heap_size);
    if (next === growth) return;
    growth = next;
    allowGrowth(growth);
  }).observe({ entryTypes: ['gc'] });
}

function isFullCollection(
  entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } },
): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function allowGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/** Globals that Node defines with lazy getters, and that every request uses. */
const LAZY_GLOBALS = ['AbortController', 'AbortSignal', 'Buffer', 'performance', 'process'] as const;

/**
 * Replaces lazy getters of globals by plain values. The getter runs on each use and the compiler cannot inline it,
 * which cost about 3 % of a request.
 */
export function definePlainGlobals(): void {
  for (const name of LAZY_GLOBALS) {
    Object.defineProperty(globalThis, name, {
      value: globalThis[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}
