import { createHash } from 'node:crypto';
import { LANES, type Lane } from '../compare/lanes.ts';
import { type Delivery, steadyModel } from './steady-upstream.ts';

/** A request that is measured. */
export interface CostCase {
  readonly name: string;
  readonly lane: Lane;
  readonly delivery: Delivery;
  readonly key: keyof typeof KEYS;
  readonly gateway: keyof typeof GATEWAYS;
}

/** Keys of the measured gateways. Each has a limit, so that money is reserved and settled. */
export const KEYS = {
  plain: 'sk-sb-v1-plain-key-of-the-cost-table',
  guarded: 'sk-sb-v1-guarded-key-of-the-cost-table',
} as const;

/** Nobody is there: what is sent to it after the answers is no part of a request. */
const COLLECTOR = { type: 'otel-collector', name: 'Collector', config: { endpoint: 'http://127.0.0.1:9' } };

/** How a measured gateway is started. `isCompiled`: with V8's optimizing compiler, as in production. */
interface MeasuredGateway {
  readonly workers: number;
  readonly destinations: readonly object[];
  readonly isCompiled: boolean;
}

const PLAIN: MeasuredGateway = { workers: 1, destinations: [], isCompiled: false };

/** Measured gateways, by what they are started with. */
export const GATEWAYS = {
  plain: PLAIN,
  compiled: { ...PLAIN, isCompiled: true },
  workers: { ...PLAIN, workers: 2 },
  destination: { ...PLAIN, destinations: [COLLECTOR] },
} as const satisfies Readonly<Record<string, MeasuredGateway>>;

const of = (name: string, lane: Lane, delivery: Delivery, more: Partial<CostCase> = {}): CostCase => ({
  name,
  lane,
  delivery,
  key: 'plain',
  gateway: 'plain',
  ...more,
});

/** A feature whose price is to be held gets a row here, and what it needs in `KEYS`, `GATEWAYS` or `configuration`. */
export const CASES: readonly CostCase[] = [
  of('relay, whole', LANES.relay, 'whole'),
  of('relay, stream', LANES.relay, 'stream'),
  of('relay, burst', LANES.relay, 'burst'),
  of('messages to chat, whole', LANES.messagesToChat, 'whole'),
  of('messages to chat, stream', LANES.messagesToChat, 'stream'),
  of('responses to messages, whole', LANES.responsesToMessages, 'whole'),
  of('responses to messages, stream', LANES.responsesToMessages, 'stream'),
  of('idle guardrail, whole', LANES.relay, 'whole', { key: 'guarded' }),
  of('idle guardrail, stream', LANES.relay, 'stream', { key: 'guarded' }),
  of('relay, whole, compiled', LANES.relay, 'whole', { gateway: 'compiled' }),
  of('relay, stream, compiled', LANES.relay, 'stream', { gateway: 'compiled' }),
  of('worker, whole', LANES.relay, 'whole', { gateway: 'workers' }),
  of('worker, stream', LANES.relay, 'stream', { gateway: 'workers' }),
  of('OTLP destination, whole', LANES.relay, 'whole', { gateway: 'destination' }),
  of('OTLP destination, stream', LANES.relay, 'stream', { gateway: 'destination' }),
];

/** The model that callers ask for. */
export const modelOf = ({ lane, delivery }: CostCase): string => `cost/${lane.upstream}-${delivery}`;

const DIALECTS = { chat: 'openai-chat', messages: 'anthropic-messages' } as const;
const DELIVERIES: readonly Delivery[] = ['whole', 'stream', 'burst'];
const LIMIT_USD = 1_000_000;

const keyOf = (name: keyof typeof KEYS) => ({
  name,
  hash: createHash('sha256').update(KEYS[name]).digest('hex'),
  limit: LIMIT_USD,
});

/** The guardrail of the second workspace restricts providers, and all that are there are allowed. */
export function configuration(
  upstreamPort: number,
  { destinations }: Pick<MeasuredGateway, 'destinations'> = PLAIN,
): object {
  const providers = Object.keys(DIALECTS) as (keyof typeof DIALECTS)[];
  return {
    providers: providers.map((slug) => ({
      slug,
      dialect: DIALECTS[slug],
      base_url: `http://127.0.0.1:${upstreamPort}/v1`,
      api_key: 'cost',
    })),
    models: providers.flatMap((provider) =>
      DELIVERIES.map((delivery) => ({
        id: `cost/${provider}-${delivery}`,
        context_length: 200_000,
        max_output_tokens: 32_000,
        endpoints: [
          {
            provider,
            model: steadyModel(delivery),
            pricing: { prompt: '0.000001', completion: '0.000004' },
          },
        ],
      })),
    ),
    credits: { initial_usd: LIMIT_USD },
    workspaces: [
      { slug: 'default', name: 'Cost', keys: [keyOf('plain')], destinations },
      {
        slug: 'guarded',
        name: 'Guarded',
        keys: [keyOf('guarded')],
        guardrails: [{ name: 'Providers', default: true, allowed_providers: providers }],
      },
    ],
  };
}
