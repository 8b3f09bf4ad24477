import { siteOfEndpoint } from '../../../../src/catalog/build-model.ts';
import type { GenerationEvent } from '../../../../src/ports/events/events.ts';
import type { HourlyCalls } from '../../../../src/ports/upstreams/call-counts.ts';
import { randomOf } from '../../../kit/builders/event-history.ts';

/** Who used the gateway of the pictures. */
export interface ShownKey {
  readonly hash: string;
  readonly workspaceId: string;
  readonly app: string | null;
  /** Its share of all requests, relative to the other keys. */
  readonly weight: number;
}

/** A model of the history: who serves it, and its prices in nano-dollars for a token. */
interface ShownModel {
  readonly id: string;
  readonly provider: string;
  readonly weight: number;
  readonly promptNanos: number;
  readonly completionNanos: number;
  readonly firstTokenMs: number;
}

/** Models of the history; those of the known providers are in the configuration too. */
export const MODELS: readonly ShownModel[] = [
  {
    id: 'anthropic/claude-sonnet-5.5',
    provider: 'Anthropic',
    weight: 30,
    promptNanos: 3_000,
    completionNanos: 15_000,
    firstTokenMs: 900,
  },
  {
    id: 'openai/gpt-5.2',
    provider: 'OpenAI',
    weight: 26,
    promptNanos: 1_750,
    completionNanos: 14_000,
    firstTokenMs: 700,
  },
  {
    id: 'anthropic/claude-haiku-5.5',
    provider: 'Anthropic',
    weight: 18,
    promptNanos: 1_000,
    completionNanos: 5_000,
    firstTokenMs: 450,
  },
  {
    id: 'openai/gpt-5-mini',
    provider: 'OpenAI',
    weight: 14,
    promptNanos: 250,
    completionNanos: 2_000,
    firstTokenMs: 400,
  },
  {
    id: 'workshop/qwen3',
    provider: 'Workshop',
    weight: 12,
    promptNanos: 100,
    completionNanos: 400,
    firstTokenMs: 300,
  },
];

const HOUR_MS = 3_600_000;
const FORMATS = ['responses', 'messages', 'chat'];

/** Usage of some days until a moment: busy by day, quiet by night, with a few failures. The same in every run. */
export function* shownHistory(
  keys: readonly ShownKey[],
  { accountId, endMs, days, perDay }: { accountId: string; endMs: number; days: number; perDay: number },
): Generator<GenerationEvent> {
  const random = randomOf(7);
  const below = (limit: number) => Math.floor(random() * limit);
  const count = days * perDay;
  for (let index = 0; index < count; index++) {
    const createdAtMs = Math.floor(endMs - ((count - index) * days * 24 * HOUR_MS) / count);
    if (random() > busyness(createdAtMs)) continue;
    const key = chosen(keys, random());
    const model = chosen(MODELS, random());
    const promptTokens = 300 + below(9_000);
    const completionTokens = 60 + below(1_400);
    const isFailed = random() < 0.015;
    const isFallback = !isFailed && random() < 0.02;
    const latencyMs = model.firstTokenMs + below(model.firstTokenMs) + (isFallback ? 1_500 : 0);
    const generationMs = completionTokens * (5 + below(6));
    const creditNanos = isFailed
      ? 0n
      : BigInt(promptTokens * model.promptNanos + completionTokens * model.completionNanos);
    yield {
      id: `gen-of-history-${index}`,
      createdAtMs,
      accountId,
      workspaceId: key.workspaceId,
      keyHash: key.hash,
      userId: null,
      app: key.app,
      modelId: model.id,
      model: model.id,
      variant: 'standard',
      provider: model.provider,
      endpoint: model.provider.toLowerCase(),
      origin: null,
      country: null,
      finishReason: isFailed ? 'error' : 'stop',
      externalUser: null,
      contextLengthBucket: promptTokens <= 1_000 ? '1K' : '10K',
      modalities: '',
      isZdr: false,
      isByok: false,
      isGuarded: random() < 0.03,
      isFromCache: random() < 0.02,
      promptTokens,
      completionTokens: isFailed ? 0 : completionTokens,
      reasoningTokens: 0,
      cachedTokens: below(promptTokens),
      latencyMs: isFailed ? null : latencyMs,
      generationMs: isFailed ? null : generationMs,
      creditNanos,
      byokNanos: 0n,
      upstreamNanos: creditNanos,
      cacheNanos: null,
      webNanos: null,
      log: {
        state: isFailed ? 'failed' : isFallback ? 'fallback' : 'answered',
        format: FORMATS[index % FORMATS.length] ?? null,
        sessionId: null,
        traceId: null,
        requestId: null,
        durationMs: isFailed ? 400 : latencyMs + generationMs,
        errorStatus: isFailed ? (random() < 0.6 ? 429 : 502) : null,
        errorType: isFailed ? 'provider_unavailable' : null,
        attempts: isFallback ? 2 : 1,
        toolCalls: 0,
        isStreamed: true,
      },
      isImported: true,
    };
  }
}

/** How likely a request is at a moment, 0 to 1: most at two in the afternoon UTC. */
function busyness(atMs: number): number {
  const hour = (atMs / HOUR_MS) % 24;
  return 0.2 + 0.8 * Math.max(Math.cos(((hour - 14) / 24) * 2 * Math.PI), 0) ** 1.5;
}

function chosen<Item extends { readonly weight: number }>(items: readonly Item[], share: number): Item {
  let left = share * items.reduce((sum, { weight }) => sum + weight, 0);
  for (const item of items) {
    left -= item.weight;
    if (left < 0) return item;
  }
  const last = items.at(-1);
  if (last === undefined) throw new Error('there is nothing to choose from');
  return last;
}

/** An endpoint of the pictures, with how its calls went. */
interface ShownEndpoint {
  readonly site: string;
  readonly callsPerHour: number;
  /** Days since its first call. */
  readonly days: number;
  /** Share of failed calls so many days ago. */
  readonly failing: (daysAgo: number) => number;
}

const ENDPOINTS: readonly ShownEndpoint[] = [
  ...MODELS.map(({ id, provider, weight }) => ({
    site: siteOfEndpoint(
      id,
      provider.toLowerCase(),
      id === 'workshop/qwen3' ? 'qwen3:8b' : (id.split('/')[1] ?? id),
    ),
    callsPerHour: weight * 3,
    days: 30,
    // A bad afternoon, and an outage.
    failing: (daysAgo: number) => {
      if (provider === 'OpenAI' && daysAgo === 9) return 0.14;
      return provider === 'Anthropic' && daysAgo === 17 ? 0.03 : 0.0005;
    },
  })),
  {
    site: siteOfEndpoint('workshop/qwen3', 'annex', 'qwen3:8b'),
    callsPerHour: 6,
    days: 12,
    failing: (daysAgo) => (daysAgo < 3 ? 0.2 : 0.02),
  },
];

/** Calls of endpoints in the hours until one of them. The same in every run. */
export function shownCalls(lastHour: number): HourlyCalls[] {
  const random = randomOf(11);
  return ENDPOINTS.flatMap(({ site, callsPerHour, days, failing }) =>
    Array.from({ length: days * 24 }, (_, ago) => {
      const hour = lastHour - ago;
      const calls = Math.round(callsPerHour * busyness(hour * HOUR_MS) * (0.7 + 0.6 * random()));
      return {
        hour,
        site,
        calls,
        failures: Math.round(calls * failing(Math.floor(ago / 24)) + random() * 0.4),
      };
    }),
  ).filter(({ calls, failures }) => calls >= failures && calls > 0);
}
