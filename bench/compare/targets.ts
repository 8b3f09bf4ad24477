import type { Metric, ScenarioResult } from './scenario.ts';
import { paired, type Spread, spreadOf } from './spread.ts';

/** A figure that is to be reached. */
export interface Target {
  readonly title: string;
  readonly unit: 'x' | 'ms' | 'KB';
  /** The required and the desired value. */
  readonly bound: number;
  readonly aim: number;
  readonly better: 'lower' | 'higher';
  /** Absent if its figures were not measured. */
  figure(results: readonly ScenarioResult[]): Spread | undefined;
}

/** A target and what was reached. */
export interface Outcome {
  readonly title: string;
  readonly unit: Target['unit'];
  readonly bound: number;
  readonly aim: number;
  readonly better: Target['better'];
  readonly reached: Spread;
  readonly verdict: 'aim reached' | 'reached' | 'missed';
}

type Figure = Target['figure'];

const valuesOf = (
  results: readonly ScenarioResult[],
  scenario: string,
  row: string,
  metric: Metric,
): readonly number[] | undefined =>
  results.find(({ name }) => name === scenario)?.rows.find(({ name }) => name === row)?.values[metric];

const comparing =
  (compare: (left: number, right: number) => number) =>
  (scenario: string, metric: Metric, left: string, right: string): Figure =>
  (results) => {
    const [mine, others] = [left, right].map((row) => valuesOf(results, scenario, row, metric));
    return mine && others && paired(mine, others, compare);
  };

/** How many times the other one's. */
export const ratio = comparing((left, right) => left / right);

/** How much more than the other one's. */
export const added = comparing((left, right) => left - right);

/** How much more than twice the other one's. */
const beyondTwice = comparing((left, right) => left - 2 * right);

/** Validation in parts of JSON.parse, for the format and size where it is the largest part. */
export const validationShare: Figure = (results) => {
  const rows = results.find(({ name }) => name === 'validation')?.rows ?? [];
  return rows
    .map(({ values }) => paired(values.validation ?? [], values.parse ?? [], (left, right) => left / right))
    .sort((left, right) => right.median - left.median)[0];
};

const plain =
  (scenario: string, metric: Metric, row: string): Figure =>
  (results) => {
    const values = valuesOf(results, scenario, row, metric);
    return values && spreadOf(values);
  };

const lower = (title: string, unit: Target['unit'], bound: number, aim: number, figure: Figure): Target => ({
  title,
  unit,
  bound,
  aim,
  better: 'lower',
  figure,
});

/** What the gateway is meant to reach. Flat is what stays within the noise of a shared machine. */
export const TARGETS: readonly Target[] = [
  lower(
    'non-streaming relay, CPU a request against nginx',
    'x',
    8,
    5,
    ratio('whole-2k', 'requestCost', 'relay', 'nginx'),
  ),
  lower(
    'the same, against nginx that keeps its connections',
    'x',
    8,
    5,
    ratio('whole-2k', 'requestCost', 'relay', 'nginx, connections kept'),
  ),
  {
    ...lower(
      'the same, requests/s against Portkey',
      'x',
      10,
      15,
      ratio('whole-2k', 'requestRate', 'relay', 'portkey'),
    ),
    better: 'higher',
  },
  lower(
    'streaming relay (paced), CPU an event against nginx',
    'x',
    3,
    2,
    ratio('paced', 'eventCost', 'relay', 'nginx'),
  ),
  ...['messages to chat', 'responses to messages'].flatMap((lane) => [
    lower(
      `${lane} (paced), CPU an event against relay`,
      'x',
      2,
      1.5,
      ratio('paced', 'eventCost', lane, 'relay'),
    ),
    lower(
      `${lane} (burst), CPU an event against relay`,
      'x',
      2,
      1.5,
      ratio('burst', 'eventCost', lane, 'relay'),
    ),
  ]),
  lower(
    '400 paced streams, relay: time to first event added, p50',
    'ms',
    10,
    3,
    added('paced', 'firstP50', 'relay', 'upstream'),
  ),
  lower(
    '400 paced streams, relay: end of a stream later, p99',
    'ms',
    100,
    20,
    added('paced', 'late', 'relay', 'upstream'),
  ),
  lower(
    'added p50 at 100 requests/s, non-streaming',
    'ms',
    2.5,
    1.2,
    added('latency', 'p50', 'relay', 'upstream'),
  ),
  {
    ...lower(
      'answered at three times the load, of capacity',
      'x',
      0.8,
      0.9,
      plain('overload', 'goodput', 'too much'),
    ),
    better: 'higher',
  },
  lower(
    'the same, p99 beyond twice that with little to do',
    'ms',
    50,
    0,
    beyondTwice('overload', 'p99', 'too much', 'little to do'),
  ),
  lower('the same, p99 of refusals', 'ms', 20, 5, plain('overload', 'refusalP99', 'too much')),
  lower('validation against JSON.parse, the costliest of all', 'x', 0.2, 0.1, validationShare),
  lower('memory per idle stream', 'KB', 48, 32, plain('idle', 'streamMemory', 'relay')),
  lower(
    'CPU a request, 10,000 keys against 1',
    'x',
    1.15,
    1.05,
    ratio('keys', 'requestCost', '10,000 keys', '1 key'),
  ),
  lower(
    'CPU a request, 5,000 models against 10',
    'x',
    1.15,
    1.05,
    ratio('models', 'requestCost', '5,000 models', '10 models'),
  ),
];

/** Compares the figures with the targets; targets without figures are left out. */
export function outcomesOf(targets: readonly Target[], results: readonly ScenarioResult[]): Outcome[] {
  return targets.flatMap(({ figure, ...target }) => {
    const reached = figure(results);
    if (reached === undefined) return [];
    return [{ ...target, reached, verdict: verdictOn(target, reached.median) }];
  });
}

function verdictOn({ bound, aim, better }: Omit<Target, 'figure'>, median: number): Outcome['verdict'] {
  const within = (limit: number) => (better === 'lower' ? median <= limit : median >= limit);
  if (within(aim)) return 'aim reached';
  return within(bound) ? 'reached' : 'missed';
}
