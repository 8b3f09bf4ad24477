import { traceIdOf } from '../../../src/ir/trace.ts';
import { modalitiesText } from '../../../src/ports/events/event-names.ts';
import type { GenerationEvent, LogFacts } from '../../../src/ports/events/events.ts';

/** Numbers of 0 to 1 that are the same in every run. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const DAY_MS = 86_400_000;

/** The first moment of every history: a Sunday, so that weeks do not begin with it. */
export const HISTORY_START_MS = Date.UTC(2026, 0, 4);

/** Events spread evenly over so many days, in the order of their time; the same in every run. */
export function* eventHistory(count: number, days: number, from = 0): Generator<GenerationEvent> {
  const random = randomOf(count + from);
  const below = (limit: number) => Math.floor(random() * limit);
  const maybe = <Value>(share: number, value: Value) => (random() < share ? value : null);
  for (let index = from; index < from + count; index++) {
    const key = below(8);
    const isByok = key % 5 === 4;
    const promptTokens = below(20_000);
    const completionTokens = below(4_000);
    const nanos = BigInt(below(5_000_000));
    const place = below(12);
    const log = logFactsOf(index);
    const model = `acme/model-${place}`;
    yield {
      id: `gen-${index}`,
      createdAtMs: HISTORY_START_MS + Math.floor(((index - from) * days * DAY_MS) / count),
      accountId: `account-${key % 2}`,
      workspaceId: `workspace-${key % 3}`,
      keyHash: key === 7 ? null : `key-${key}`,
      userId: key % 4 === 3 ? null : `user-${key % 4}`,
      app: key > 5 ? null : `app-${key}.example`,
      modelId: model,
      model: `${model}-2026`,
      variant: place < 11 ? 'standard' : 'free',
      provider: place === 0 ? null : `Provider ${place % 5}`,
      endpoint: place === 0 ? null : `endpoint-${place}`,
      origin: maybe(0.6, 'https://app.example'),
      country: maybe(0.3, 'DE'),
      finishReason: log.state === 'failed' ? 'error' : maybe(0.9, random() < 0.8 ? 'stop' : 'length'),
      externalUser: maybe(0.2, `end'user "${below(3)}"; --`),
      contextLengthBucket: promptTokens <= 1_000 ? '1K' : promptTokens <= 10_000 ? '10K' : '100K',
      modalities: modalitiesText({ image: place === 3, tool_calling: place % 4 === 1 }),
      isZdr: key === 5,
      isByok,
      isGuarded: random() < 0.05,
      isFromCache: random() < 0.05,
      promptTokens,
      completionTokens,
      reasoningTokens: below(completionTokens + 1),
      cachedTokens: below(promptTokens + 1),
      latencyMs: maybe(0.9, below(5_000)),
      generationMs: maybe(0.9, below(20_000)),
      creditNanos: isByok ? nanos / 20n : nanos,
      byokNanos: isByok ? nanos : 0n,
      upstreamNanos: nanos,
      cacheNanos: maybe(0.5, BigInt(below(2_000) - 500)),
      webNanos: maybe(0.1, BigInt(below(9_000))),
      log,
      isImported: false,
    };
  }
}

/** Facts for the log, without drawing from the random numbers, so that the rest of a history stays what it was. */
function logFactsOf(index: number): LogFacts {
  const isFailed = index % 50 === 7;
  return {
    state: isFailed ? 'failed' : index % 40 === 3 ? 'fallback' : index % 60 === 11 ? 'cancelled' : 'answered',
    format: ['responses', 'messages', 'chat'][index % 3] ?? null,
    sessionId: index % 4 === 0 ? `session-${index % 5_000}` : null,
    requestId: index % 10 === 0 ? `request-${index}` : null,
    durationMs: (index * 7_919) % 30_000,
    errorStatus: isFailed ? ([429, 502, 524][index % 3] ?? null) : null,
    errorType: isFailed ? 'provider_unavailable' : null,
    attempts: index % 40 === 3 ? 2 : 1,
    toolCalls: index % 30 === 0 ? 2 : 0,
    isStreamed: index % 5 !== 0,
    traceId: index % 6 === 0 ? traceIdOf(`workflow ${index % 600}`) : null,
  };
}

/** Events of so many apps, one of each on every day, in the order of their time; the same in every run. */
export function* appHistory(apps: number, days: number): Generator<GenerationEvent> {
  const [like] = eventHistory(1, 1);
  if (like === undefined) return;
  for (let day = 0; day < days; day++) {
    for (let app = 0; app < apps; app++) {
      yield {
        ...like,
        id: `app-${app}-${day}`,
        createdAtMs: HISTORY_START_MS + day * DAY_MS,
        app: `app-${app}.example`,
        isZdr: false,
        promptTokens: app * (day + 1),
      };
    }
  }
}
