import type { Flags } from '../../config/load.ts';
import { useFrugalHeap } from './frugal-heap.ts';
import { usePlainGlobals } from './plain-globals.ts';

/** Serves until it is told to stop. The gateway is loaded here and not earlier, because other commands need none. */
export async function serve(flags: Flags, asJson: boolean): Promise<void> {
  usePlainGlobals();
  useFrugalHeap();
  const { startGateway } = await import('./start-gateway.ts');
  await startGateway({ flags, asJson });
}
