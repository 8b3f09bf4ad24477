import { type MetricFamily, type MetricSample, numberText } from './metric-family.ts';

export type GaugeReading = readonly [labels: Readonly<Record<string, string>>, value: number];

export interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  /** `counter` if the value only grows. */
  readonly type?: MetricFamily['type'];
  read(): number | Iterable<GaugeReading>;
}

/** Values that are kept elsewhere and read when the metrics are scraped. */
export function gauge({ name, help, type = 'gauge', read }: GaugeOptions): MetricFamily {
  return {
    name,
    help,
    type,
    *samples(): Iterable<MetricSample> {
      const reading = read();
      const readings: Iterable<GaugeReading> = typeof reading === 'number' ? [[{}, reading]] : reading;
      for (const [labels, value] of readings) yield { labels, value: numberText(value) };
    },
  };
}
