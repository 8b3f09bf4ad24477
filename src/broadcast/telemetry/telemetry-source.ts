import type { InstrumentationScope, Resource } from '../otlp/messages.ts';

export interface TelemetrySource {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  /** Since when its sums are added up, epoch milliseconds. */
  readonly startMs: number;
}
