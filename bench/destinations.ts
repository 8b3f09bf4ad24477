import { openSpanCounter } from './compare/span-counter.ts';
import { compareTwins } from './compare/twin-gateways.ts';

/**
 * What a destination that gets prompts and answers by OTLP does to requests: `node scripts/bench.mjs destinations
 * [RATE] [SECONDS] [ROUNDS]`.
 */
const [rate = 50, seconds = 8, rounds = 6] = process.argv.slice(2).map(Number);

const receiver = await openSpanCounter();
try {
  const config = { endpoint: receiver.endpoint, protocol: 'protobuf' };
  const destination = { type: 'otel-collector', name: 'Collector', config };
  await compareTwins(
    {
      without: { destinations: [{ ...destination, enabled: false }] },
      with: { destinations: [destination] },
      answer: () => 'It comes tomorrow. '.repeat(100),
      done: receiver.count,
    },
    { rate, seconds, rounds },
  );
  const { requests, bytes } = receiver.figures;
  console.log(
    `${receiver.count()} generations in ${requests} requests of ${Math.round(bytes / requests / 1024)} KB`,
  );
} finally {
  await receiver.close();
}
