import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Flags } from '../../config/runtime.ts';

/** Serves until it is told to stop. The gateway is loaded here and not earlier, because other commands need none. */
export async function serve(flags: Flags, asJson: boolean): Promise<void> {
  usePlainGlobals();
  useFrugalHeap();
  const { startGateway } = await import('./start-gateway.ts');
  await startGateway({ flags, asJson });
}

const MIB = 1024 * 1024;

/** What nobody holds any more may take so much before it is collected. */
const GARBAGE_BYTES = 32 * MIB;

/** Percent by which a heap may grow until then: a small one would be collected all the time, a large one hardly ever. */
const MOST_PERCENT = 100;
const LEAST_PERCENT = 20;
const PERCENT_STEP = 10;

/** How much a heap that holds so many bytes may grow, in percent. */
export function growthOf(liveBytes: number): number {
  const percent = Math.round(((GARBAGE_BYTES / liveBytes) * 100) / PERCENT_STEP) * PERCENT_STEP;
  return Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, percent));
}

/**
 * Makes the process collect its garbage earlier. By default V8 lets a small heap grow fourfold between two full
 * collections; a gateway has little that lives long and much that lives as long as a slow reader takes, so that what
 * it holds for a hundred of them would double with what nobody holds any more. A full collection costs as much as the heap
 * is large, so that a share alone would not do either: what may pile up is about the same for all of them.
 */
function useFrugalHeap(): void {
  let growth = MOST_PERCENT;
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

/** Globals that Node makes when they are first asked for, of which every request uses some. */
const LAZY = ['AbortController', 'AbortSignal', 'Buffer', 'performance', 'process'] as const;

/**
 * Makes globals values like any other. As Node has them, each use asks again whether they were made already, and no
 * compiler sees through that: it came to a thirtieth of what a request costs.
 */
export function usePlainGlobals(): void {
  for (const name of LAZY) {
    Object.defineProperty(globalThis, name, {
      value: globalThis[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}
