import { LANES } from './lanes.ts';
import { type LoadShape, measureLoad, type Sample } from './measure-load.ts';
import type { Row, Scenario, Stage } from './scenario.ts';
import type { Subject } from './subject.ts';

const SMALL: LoadShape = { answer: '2k', promptBytes: 2000, connections: 32 };
const WARM_UPS = 8;
/** Offered load as a multiple of the capacity. */
const LITTLE = 0.1;
const TOO_MUCH = 3;
/** Long enough that requests admitted before the first refusal are under 1 %. */
const MIN_FLOOD_SECONDS = 60;
/**
 * Connections for requests that wait: enough while others are refused at once. Requests that would need more are
 * counted and not sent.
 */
const MAX_CONNECTIONS = 2000;
/**
 * The gateway has recovered if it refuses no request and is as quick as before; this is how long that is waited for.
 */
const MAX_RECOVERY_SECONDS = 10;

/** Sends three times the capacity of the gateway: how fast it serves, how fast it refuses, and when it recovers. */
export const overload: Scenario = {
  name: 'overload',
  title: `relay of 2 KB at ${TOO_MUCH} times the rate that can be answered`,
  run: (stage) => stage.cast.withFreshGateway((gateway) => overloaded(stage, gateway)),
};

async function overloaded(stage: Stage, gateway: Subject): Promise<Row[]> {
  const send = (shape: Partial<LoadShape>, seconds: number) =>
    measureLoad(stage, gateway, LANES.relay, { ...SMALL, ...shape }, seconds);
  for (let count = 0; count < WARM_UPS; count++) await send({}, 1);
  const capacity = rateOf(await send({}, 3));
  const atRate = (share: number) => ({
    rate: capacity * share,
    connections: MAX_CONNECTIONS,
    maybeRefused: true as const,
  });
  const calm = await send(atRate(LITTLE), 5);
  const flooded = await send(atRate(TOO_MUCH), Math.max(stage.seconds, MIN_FLOOD_SECONDS));
  const recovery = await recovered(calm, () => send(atRate(LITTLE), 1));
  const row = (name: string, { p50, p99 }: Sample, more: Row['values'] = {}): Row => ({
    name,
    values: { p50: [p50 / 1000], p99: [p99 / 1000], ...more },
  });
  return [
    row('little to do', calm),
    row('too much', flooded, {
      goodput: [rateOf(flooded) / capacity],
      refused: [flooded.refusals],
      unsent: [flooded.unsent],
      // Without refusals there is no refusal time.
      ...(flooded.refusals > 0 && { refusalP99: [flooded.refusalP99 / 1000] }),
      recovery: [recovery],
    }),
  ];
}

function rateOf({ requests, seconds }: Sample): number {
  return requests / seconds;
}

/** Seconds until all is as before. */
async function recovered(calm: Sample, send: () => Promise<Sample>): Promise<number> {
  const longest = 2 * calm.p99 + 50_000;
  for (let seconds = 0; seconds < MAX_RECOVERY_SECONDS; seconds++) {
    const { refusals, p99 } = await send();
    if (refusals === 0 && p99 <= longest) return seconds;
  }
  return Number.POSITIVE_INFINITY;
}
