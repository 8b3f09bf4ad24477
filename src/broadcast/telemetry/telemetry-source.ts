import type { InstrumentationScope, Resource } from '../otlp/messages.ts';

/** What the telemetry of a gateway is from. */
export interface TelemetrySource {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  /** Since when its sums are added up, epoch milliseconds. */
  readonly startMs: number;
}
