import { expect, it } from 'vitest';
import { gauge } from '../kit/metrics/gauge.ts';
import { LoopDelay } from '../kit/metrics/loop-delay.ts';
import { type RunningParts, runningState } from './running-state.ts';

const MIB = 1024 * 1024;

const figure = (name: string, value: number) => gauge({ name, help: '', read: () => value });

async function stateWith(workers: RunningParts['workers'], listAll = async () => new Map()) {
  const loopDelay = new LoopDelay();
  const server = { state: 'ready', inFlight: { requests: () => 2, generations: () => 1 } } as const;
  const ok = { status: 'ok' } as const;
  const readiness = () => ({ ledger: ok, store: ok, events: ok, providers: ok });
  const engine = { health: { coolingSites: () => [] } } as unknown as RunningParts['engine'];
  try {
    const followerNotes = { listAll };
    return await runningState({ server, workers, loopDelay, engine, followerNotes, readiness });
  } finally {
    loopDelay.close();
  }
}

it('is that of the only process', async () => {
  const state = await stateWith(undefined);
  expect(state).toMatchObject({ processes: 1, requestsInFlight: 2, generationsInFlight: 1 });
  expect(state.parts.store).toEqual({ status: 'ok' });
  expect(state.memoryBytes).toBeGreaterThan(MIB);
});

it('is that of all processes', async () => {
  const state = await stateWith({
    figures: { requests: 7, generations: 5, loopDelaySeconds: 60 },
    metricsWith: async (own) => {
      expect(own.map(({ name }) => name)).toContain('process_resident_memory_bytes');
      return [figure('process_resident_memory_bytes', 480 * MIB), figure('signalbox_workers', 2)];
    },
  });
  expect(state).toMatchObject({
    processes: 3,
    memoryBytes: 480 * MIB,
    requestsInFlight: 7,
    generationsInFlight: 5,
    loopDelaySeconds: 60,
  });
});

it('does not wait for a database whose disk is away', async () => {
  const state = await stateWith(undefined, () => new Promise(() => {}));
  expect(state).toMatchObject({ processes: 1, behind: [] });
});
