import { modelAndTagOf } from '../catalog/build-model.ts';
import type { ReadinessParts } from '../contract/envelopes/health.ts';
import type { BehindFollower, CoolingEndpoint, RunningState } from '../control/doctor-view.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import type { LoopDelay } from '../kit/metrics/loop-delay.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';
import { processMetrics } from '../kit/metrics/process-metrics.ts';
import { programVersion } from '../kit/program-version.ts';
import { systemClock } from '../kit/time/clock.ts';
import type { FollowerNote, FollowerNotes } from '../ports/following/follower-notes.ts';
import type { CoolingSite } from '../routing/health/health.ts';
import type { Engine } from './engine.ts';
import type { ListeningServer } from './listening-server.ts';
import type { WorkerOwner } from './worker-owner.ts';

export interface RunningParts {
  readonly server: Pick<ListeningServer, 'state' | 'inFlight'>;
  /** Absent if this process serves alone. */
  readonly workers: Pick<WorkerOwner, 'figures' | 'metricsWith'> | undefined;
  readonly loopDelay: LoopDelay;
  readonly engine: Pick<Engine, 'health'>;
  readonly followerNotes: Pick<FollowerNotes, 'listAll'>;
  readonly readiness: () => ReadinessParts;
}

/** The state of the gateway: of this process and of its workers. */
export async function runningState({
  server,
  workers,
  loopDelay,
  engine,
  followerNotes,
  readiness,
}: RunningParts): Promise<RunningState> {
  const own = processMetrics(loopDelay);
  const metrics = (await workers?.metricsWith(own)) ?? own;
  // Requests that workers forward are in flight here too.
  const ofWorkers = workers?.figures;
  return {
    version: programVersion(),
    state: server.state,
    memoryBytes: sumOf(metrics, 'process_resident_memory_bytes'),
    processes: 1 + sumOf(metrics, 'signalbox_workers'),
    requestsInFlight: ofWorkers?.requests ?? server.inFlight.requests(),
    generationsInFlight: ofWorkers?.generations ?? server.inFlight.generations(),
    loopDelaySeconds: Math.max(loopDelay.longest, ofWorkers?.loopDelaySeconds ?? 0),
    cooling: engine.health.coolingSites().map(coolingEndpointOf),
    behind: await followersBehind(followerNotes, systemClock.now()),
    parts: readiness(),
  };
}

/** The sum of a metric; 0 if there is none of that name. */
function sumOf(metrics: readonly MetricFamily[], name: string): number {
  const samples = metrics.filter((family) => family.name === name).flatMap((family) => [...family.samples()]);
  return samples.reduce((sum, { value }) => sum + Number(value), 0);
}

/** Fewer waiting generations are nothing to tell of. */
const MANY_WAITING = 10_000;

/** How long the database may take to say how followers go, milliseconds: its disk may be what is looked for. */
const NOTES_MS = 1_000;

/** Followers with a problem, and those for which many generations wait. None if the database does not answer. */
async function followersBehind(
  notes: Pick<FollowerNotes, 'listAll'>,
  nowMs: number,
): Promise<readonly BehindFollower[]> {
  let all: ReadonlyMap<string, FollowerNote> = new Map();
  const reading = notes.listAll().then((found) => {
    all = found;
  });
  await isInTime(reading, NOTES_MS).catch(() => {});
  return [...all]
    .filter(([, { problem, waiting }]) => problem !== null || waiting >= MANY_WAITING)
    .map(([follower, { problem, problemSinceMs, waiting, dropped }]) => ({
      follower,
      problem,
      problem_seconds: Math.max(0, Math.round((nowMs - (problemSinceMs ?? nowMs)) / 1000)),
      waiting,
      dropped,
    }));
}

function coolingEndpointOf({ site, accounts, leftMs }: CoolingSite): CoolingEndpoint {
  return { ...modelAndTagOf(site), accounts, seconds_left: Math.ceil(leftMs / 1000) };
}
