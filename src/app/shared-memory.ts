import { randomUUID } from 'node:crypto';
import type { Runtime } from '../config/runtime.ts';
import type { Log } from '../kit/log/log.ts';
import { systemClock } from '../kit/time/clock.ts';
import { readOrMakeGatewayId } from '../store/directory/gateway-identity.ts';
import { MemoryRoutingMemory } from '../store/routing-memory/memory-routing-memory.ts';
import { openRedisStores } from '../store/shared-memory/redis-stores.ts';
import type { SharedStores } from '../store/shared-memory/shared-stores.ts';
import { StoreGate } from '../store/shared-memory/store-gate.ts';
import type { Closers } from './closers.ts';
import type { EngineMemory } from './engine.ts';
import type { Installation } from './installation.ts';

/** What gateways share besides keys and money: limits of requests and tokens, pins, health, output items. */
export interface SharedMemory {
  readonly stores: SharedStores;
  /** Everything that asks the stores asks through it. */
  readonly gate: StoreGate;
  readonly gatewayId: string;
  readonly processId: string;
}

/** How long a start waits for the first answer, milliseconds. A gateway starts without it too. */
const FIRST_ANSWER_MS = 1_000;

/** Lines about refused questions are at least this far apart, milliseconds: a busy key is asked for all the time. */
const REFUSAL_LINES_MS = 60_000;

export interface SharedMemoryOptions {
  readonly installation: Pick<Installation, 'directory' | 'sharedStores'>;
  readonly runtime: Pick<Runtime, 'redis'>;
  readonly vendor: string;
  /** Longest wait for an answer, milliseconds; by default that of StoreGate. */
  readonly limitMs: number | undefined;
  readonly log: Log;
}

/** Opens what gateways share: in Redis if it is given, else in the shared database; undefined if there is neither. */
export async function openSharedMemory(
  { installation, runtime: { redis }, vendor, limitMs, log }: SharedMemoryOptions,
  closers: Closers,
): Promise<SharedMemory | undefined> {
  const { directory, sharedStores } = installation;
  const stores = redis === undefined ? sharedStores : openRedisStores(redis, vendor, systemClock);
  if (stores === undefined) return undefined;
  const place = { store: stores.kind, host: stores.host };
  let lastRefusalMs = Number.NEGATIVE_INFINITY;
  const gate = new StoreGate({
    ...(limitMs !== undefined && { limitMs }),
    probe: () => stores.probe(),
    isAnswer: (error) => stores.isAnswer?.(error) ?? false,
    refused: (error) => {
      if (performance.now() - lastRefusalMs < REFUSAL_LINES_MS) return;
      lastRefusalMs = performance.now();
      log.warn(
        'the shared memory refuses a question about one key, which something else has written; this gateway decides ' +
          'by itself whatever asks for it: remove the key',
        { ...place, keys: `${vendor}:*`, errno: stores.errorCode(error) },
      );
    },
    lost: (reason) =>
      log.warn(
        'the shared memory of limits and routing does not answer; each gateway admits its share and routes by itself',
        { ...place, errno: stores.errorCode(reason) },
      ),
    found: (awayMs) =>
      log.warn('the shared memory of limits and routing answers again', {
        ...place,
        away_ms: Math.round(awayMs),
      }),
  });
  closers.add('the shared memory of limits and routing', {
    async close() {
      gate.close();
      await stores.close();
    },
  });
  await gate.open(FIRST_ANSWER_MS);
  return { stores, gate, gatewayId: readOrMakeGatewayId(directory.path), processId: randomUUID() };
}

/** What the processes of one gateway share without a shared store: in the memory of their owner. */
export function memoryOfProcesses(): EngineMemory {
  return {
    stores: { routing: new MemoryRoutingMemory(systemClock) },
    gate: OPEN_GATE,
    gatewayId: randomUUID(),
    processId: randomUUID(),
  };
}

/** Access to what answers as long as this process lives. */
export const OPEN_GATE: EngineMemory['gate'] = { ask: (work) => work(), onFound: () => {} };
