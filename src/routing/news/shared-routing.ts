import type { Pin, RoutingMemory } from '../../ports/shared/routing-memory.ts';
import type { SharedPins } from '../conversation/pins.ts';
import { PROBE_TIMEOUT_MS } from '../health/breaker.ts';
import type { ProbeRights } from '../health/probe-rights.ts';

/** Asks the store; rejects while it does not answer. */
export type AskStore = <T>(work: () => Promise<T>) => Promise<T>;

/** Pins of other processes, as far as the store answers. `moved`: is called with keys whose pin has moved. */
export function sharedPins(
  memory: Pick<RoutingMemory, 'findPin' | 'setPin'>,
  ask: AskStore,
  moved: (key: string) => void,
): SharedPins {
  return {
    find: (key): Promise<Pin | undefined> => ask(() => memory.findPin(key)).catch(() => undefined),
    set: (key, pin, idleMs) => void ask(() => memory.setPin(key, pin, idleMs)).catch(() => {}),
    moved,
  };
}

/** The right to probe among all processes; while the store does not answer, each has it. */
export function probeRights(
  memory: Pick<RoutingMemory, 'takeProbe' | 'endProbe'>,
  ask: AskStore,
  processId: string,
): ProbeRights {
  return {
    take: (place) => ask(() => memory.takeProbe(place, processId, PROBE_TIMEOUT_MS)).catch(() => true),
    end: (place, keepMs) => void ask(() => memory.endProbe(place, processId, keepMs)).catch(() => {}),
  };
}
