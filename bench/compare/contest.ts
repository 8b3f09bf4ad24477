import type { Cast } from './cast.ts';
import type { GatewaySize } from './gateway-subject.ts';
import { ANSWERS, LANES, type Lane, PACE_MS } from './lanes.ts';
import { type LoadShape, measureLoad, type Sample } from './measure-load.ts';
import type { Metric, Row, Scenario, Stage } from './scenario.ts';
import type { Subject } from './subject.ts';

/** A participant: a subject, and the lane of its requests. */
export interface Entrant {
  readonly name: string;
  readonly subject: Subject;
  readonly lane: Lane;
}

interface ContestPlan {
  readonly name: string;
  readonly title: string;
  readonly shape: LoadShape;
  readonly metrics: readonly Metric[];
  /**
   * Load of the warm-up, if another one compiles the same code sooner; one uncounted round of `shape` follows it.
   */
  readonly warmUp?: LoadShape;
  /** Requests that each participant serves as warm-up, however many rounds that takes. */
  readonly coldRequests?: number;
  entrants(cast: Cast): Promise<readonly Entrant[]>;
}

/** V8 compiles what runs often, so a warm-up is counted in requests. */
const MIN_WARM_UP_REQUESTS = 6000;
const MAX_WARM_UP_ROUNDS = 8;
const STEADY_COST_RATIO = 0.93;

/** A scenario in which all entrants meet the same load, in turn, round after round. */
export function contest(plan: ContestPlan): Scenario {
  const { name, title, shape, metrics, warmUp = shape, coldRequests = 0, entrants } = plan;
  return {
    name,
    title,
    async run(stage) {
      const all = await entrants(stage.cast);
      for (const entrant of all) {
        await heat(stage, entrant, warmUp, coldRequests);
        if (warmUp !== shape) await round(stage, entrant, shape);
      }
      const samples = all.map((): Sample[] => []);
      for (let count = 0; count < stage.rounds; count++)
        for (const [index, entrant] of all.entries())
          samples[index]?.push(await round(stage, entrant, shape));
      return all.map((entrant, index) => rowOf(entrant.name, samples[index] ?? [], metrics, shape));
    },
  };
}

/** Loads an entrant until it has seen enough and no longer gets cheaper. */
async function heat(stage: Stage, entrant: Entrant, shape: LoadShape, coldRequests: number): Promise<void> {
  let cheapest = Number.POSITIVE_INFINITY;
  let seen = 0;
  for (let count = 0; count < MAX_WARM_UP_ROUNDS || seen < coldRequests; count++) {
    const { processorMicros, requests } = await round(stage, entrant, shape);
    const cost = processorMicros / requests;
    seen += requests;
    if (seen >= Math.max(MIN_WARM_UP_REQUESTS, coldRequests) && cost > cheapest * STEADY_COST_RATIO) return;
    cheapest = Math.min(cheapest, cost);
  }
}

function round(stage: Stage, { subject, lane }: Entrant, shape: LoadShape): Promise<Sample> {
  return measureLoad(stage, subject, lane, shape, stage.seconds);
}

function rowOf(name: string, samples: readonly Sample[], metrics: readonly Metric[], shape: LoadShape): Row {
  const ideal = (ANSWERS[shape.answer].events - 1) * PACE_MS;
  const read: Partial<Record<Metric, (sample: Sample) => number>> = {
    requestRate: ({ requests, seconds }) => requests / seconds,
    eventRate: ({ events, seconds }) => events / seconds,
    requestCost: ({ processorMicros, requests }) => processorMicros / requests,
    eventCost: ({ processorMicros, events }) => processorMicros / events,
    p50: ({ p50 }) => p50 / 1000,
    p99: ({ p99 }) => p99 / 1000,
    firstP50: ({ firstP50 }) => firstP50 / 1000,
    late: ({ p99 }) => p99 / 1000 - ideal,
  };
  return {
    name,
    values: Object.fromEntries(
      metrics.map((metric) => [metric, samples.map((sample) => read[metric]?.(sample) ?? Number.NaN)]),
    ),
  };
}

const GATEWAY_LANES = [LANES.relay, LANES.messagesToChat, LANES.responsesToMessages];

/** The upstream, the gateway in every lane, and nginx where it is there. */
export async function usualEntrants(cast: Cast): Promise<Entrant[]> {
  const gateway = await cast.gateway();
  const other = await cast.otherGateway();
  return [
    { name: 'upstream', subject: cast.upstream, lane: LANES.relay },
    // Both builds take turns in each lane: what happens on the machine meanwhile happens to both.
    ...GATEWAY_LANES.flatMap((lane) => [
      { name: lane.name, subject: gateway, lane },
      ...(other === undefined ? [] : [{ name: `${lane.name}, other build`, subject: other, lane }]),
    ]),
    ...peer('nginx', await cast.nginx()),
  ];
}

/** The first participant that relays, if any. */
export function peer(name: string, subject: Subject | undefined): Entrant[] {
  return subject === undefined ? [] : [{ name, subject, lane: LANES.relay }];
}

/** Gateways of several sizes, each relaying, that meet in nothing else. */
export async function gatewaysOf(
  cast: Cast,
  group: string,
  sizes: Readonly<Record<string, GatewaySize>>,
): Promise<Entrant[]> {
  const entrants: Entrant[] = [];
  for (const [name, size] of Object.entries(sizes))
    entrants.push({ name, subject: await cast.gateway(size, group), lane: LANES.relay });
  return entrants;
}
