import { type GaugeReading, gauge } from '../kit/metrics/gauge.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { FollowerState, Following } from './following.ts';

/** Followers that have figures: those that fail, then those for which most waits. */
const MAX_FOLLOWERS = 100;

/** Figures of the followers that this gateway runs. Of gateways that share a database one runs them all. */
export function followerMetrics(
  following: Pick<Following, 'running' | 'contentBytes' | 'lostContents'>,
  clock: Pick<Clock, 'now'>,
): readonly MetricFamily[] {
  const figure = (value: (state: FollowerState) => number) => (): readonly GaugeReading[] =>
    shownOf(following.running).map((state) => [labelsOf(state), value(state)]);
  return [
    gauge({
      name: 'signalbox_follower_generations_total',
      help: 'Settled generations that destinations and classifiers were given, and that were dropped instead.',
      type: 'counter',
      read: () =>
        shownOf(following.running).flatMap((state): GaugeReading[] => [
          [{ ...labelsOf(state), outcome: 'taken' }, state.taken],
          [{ ...labelsOf(state), outcome: 'dropped' }, state.dropped],
        ]),
    }),
    gauge({
      name: 'signalbox_follower_waiting_generations',
      help: 'Settled generations that wait for a destination or classifier, by a count a few seconds old.',
      read: figure(({ waiting }) => waiting),
    }),
    gauge({
      name: 'signalbox_follower_problem_seconds',
      help: 'For how long a destination or classifier has had a problem; 0 if it works.',
      read: figure(({ problem, problemSinceMs }) =>
        problem === null ? 0 : Math.max(1, clock.now() - (problemSinceMs ?? clock.now())) / 1000,
      ),
    }),
    gauge({
      name: 'signalbox_spooled_content_bytes',
      help: 'Prompts and answers that wait for destinations and classifiers, large ones compressed.',
      read: () => following.contentBytes,
    }),
    gauge({
      name: 'signalbox_spooled_contents_lost_total',
      help: 'Prompts and answers that destinations and classifiers never get: more waited than there was room for.',
      type: 'counter',
      read: () => following.lostContents,
    }),
  ];
}

function shownOf(running: readonly FollowerState[]): readonly FollowerState[] {
  if (running.length <= MAX_FOLLOWERS) return running;
  const isFailing = ({ problem }: FollowerState) => Number(problem !== null);
  return [...running]
    .sort((one, other) => isFailing(other) - isFailing(one) || other.waiting - one.waiting)
    .slice(0, MAX_FOLLOWERS);
}

function labelsOf({ id, type }: FollowerState): Readonly<Record<string, string>> {
  return { follower: id, type };
}
