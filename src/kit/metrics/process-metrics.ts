import { gauge } from './gauge.ts';
import type { LoopDelay } from './loop-delay.ts';
import type { MetricFamily } from './metric-family.ts';

/** Metrics of the process under the names that are usual for Prometheus. */
export function processMetrics(loopDelay: LoopDelay): readonly MetricFamily[] {
  const startedAtSeconds = Date.now() / 1000 - process.uptime();
  return [
    gauge({
      name: 'process_cpu_seconds_total',
      help: 'CPU time that the process took, user and system, all threads.',
      type: 'counter',
      read() {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    }),
    gauge({
      name: 'process_resident_memory_bytes',
      help: 'Memory of the process.',
      read: () => process.memoryUsage.rss(),
    }),
    gauge({
      name: 'process_start_time_seconds',
      help: 'When the process began, Unix time.',
      read: () => startedAtSeconds,
    }),
    gauge({
      name: 'signalbox_event_loop_delay_seconds',
      help: 'How late the loop was, over the last minute or two; quantile 1 is the longest.',
      read: () => loopDelay.read().map(([quantile, seconds]) => [{ quantile }, seconds] as const),
    }),
  ];
}
