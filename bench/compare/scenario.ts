import type { Cast } from './cast.ts';
import type { LoadTools } from './measure-load.ts';

/** What is measured, how it is shown, and with how many digits. */
export const METRICS = {
  requestRate: { title: 'requests/s', digits: 0 },
  eventRate: { title: 'events/s', digits: 0 },
  requestCost: { title: 'CPU a request, µs', digits: 1 },
  eventCost: { title: 'CPU an event, µs', digits: 2 },
  p50: { title: 'p50, ms', digits: 2 },
  p99: { title: 'p99, ms', digits: 2 },
  firstP50: { title: 'first event p50, ms', digits: 2 },
  late: { title: 'end of stream late p99, ms', digits: 1 },
  streamMemory: { title: 'KB a stream', digits: 1 },
  goodput: { title: 'answered, of capacity', digits: 2 },
  refusalP99: { title: 'refused p99, ms', digits: 1 },
  refused: { title: 'refused', digits: 0 },
  unsent: { title: 'not sent', digits: 0 },
  recovery: { title: 'recovered after, s', digits: 1 },
  parse: { title: 'JSON.parse, µs', digits: 1 },
  validation: { title: 'validation, µs', digits: 2 },
  planning: { title: 'µs', digits: 1 },
} as const;

export type Metric = keyof typeof METRICS;

/** What was measured of one entrant: for each metric a value a round. */
export interface Row {
  readonly name: string;
  readonly values: Readonly<Partial<Record<Metric, readonly number[]>>>;
}

/** What a scenario works with. */
export interface Stage extends LoadTools {
  readonly cast: Cast;
  readonly rounds: number;
  readonly seconds: number;
  /** Where the programs of the benchmark were built to. */
  readonly built: string;
}

/** Something that is measured under one name. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  run(stage: Stage): Promise<Row[]>;
}

/** A scenario and what it brought. */
export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
}
