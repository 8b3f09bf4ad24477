import type { UsageLine } from '../../../src/manage/usage-import/usage-line.ts';

/** Numbers of 0 to 1 that are the same in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const DAY_MS = 86_400_000;

/** The first moment of every history. */
export const USAGE_START_MS = Date.UTC(2025, 0, 5);

/** Lines of usage spread evenly over so many days, in the order of their time; the same in every run. */
export function* usageHistory(count: number, days: number): Generator<UsageLine> {
  const random = randomOf(count);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let index = 0; index < count; index++) {
    const place = below(12);
    const prompt = below(20_000);
    const completion = below(4_000);
    const app = below(8);
    yield {
      generation_id: `gen-${index.toString(36).padStart(20, '0')}`,
      created_at: new Date(USAGE_START_MS + Math.floor((index * days * DAY_MS) / count)).toISOString(),
      model: `acme/model-${place}${place === 11 ? ':free' : ''}`,
      provider: `Provider ${place % 5}`,
      user: `user-${below(50)}`,
      ...(app < 6 && {
        app: { referer: `https://app-${app}.example/`, title: `App ${app}`, categories: ['game'] },
      }),
      tokens_prompt: prompt,
      tokens_completion: completion,
      tokens_reasoning: below(completion + 1),
      tokens_cached: below(prompt + 1),
      cost_usd: below(5_000_000) / 1e9,
      is_byok: place === 4,
      finish_reason: random() < 0.8 ? 'stop' : 'length',
      latency_ms: below(5_000),
      generation_ms: below(20_000),
      ...(random() < 0.3 && { country: 'DE' }),
    };
  }
}
