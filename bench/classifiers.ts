import { compareTwins } from './compare/twin-gateways.ts';

/**
 * What an active classifier at a sample of 100 % does to requests: `node scripts/bench.mjs classifiers [RATE] [SECONDS]
 * [ROUNDS]`.
 */
const [rate = 20, seconds = 10, rounds = 6] = process.argv.slice(2).map(Number);

const VERDICT = JSON.stringify({ q1: { choice: 'shipping', confidence: 1 } });

/** Requests of classifiers that the upstream has answered. */
let classified = 0;

const membersWith = (is_active: boolean) => ({
  classifiers: [
    {
      name: 'Topics',
      is_active,
      model: 'bench/model',
      dimensions: [{ name: 'topic', values: [{ value: 'billing' }, { value: 'shipping' }] }],
    },
  ],
});

await compareTwins(
  {
    without: membersWith(false),
    with: membersWith(true),
    answer(body) {
      if (!body.includes('response_format')) return 'It comes tomorrow.';
      classified += 1;
      return VERDICT;
    },
    done: () => classified,
  },
  { rate, seconds, rounds },
);
