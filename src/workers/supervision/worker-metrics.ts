import { gauge } from '../../kit/metrics/gauge.ts';
import type { MetricFamily } from '../../kit/metrics/metric-family.ts';

export interface CountedWorkers {
  readonly serving: readonly unknown[];
  readonly replaced: number;
}

/** Metrics of the serving processes; undefined = the group is not open yet. A gateway with one worker has none. */
export function workerMetrics(group: () => CountedWorkers | undefined): MetricFamily[] {
  return [
    gauge({
      name: 'signalbox_workers',
      help: 'Serving processes that take requests.',
      read: () => group()?.serving.length ?? 0,
    }),
    gauge({
      name: 'signalbox_workers_replaced_total',
      help: 'Serving processes that have ended or hung, and were replaced.',
      type: 'counter',
      read: () => group()?.replaced ?? 0,
    }),
  ];
}
