import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openAbortBench, type SeenAnswer, streamUntil, WHOLE_TOKENS } from './aborted-streams.ts';
import { recordedAnswers } from './recorded-answers.ts';
import { NANOS_PER_TOKEN, tokensBy } from './sent-answers.ts';

/** Streams of one run; `ABORTED_STREAMS=500` for a long one. */
const STREAMS = Number(process.env.ABORTED_STREAMS ?? 60);

/** Streams at a time. */
const ABREAST = 20;

async function run(slug: string) {
  const bench = await openAbortBench(slug);
  const { gateway, upstream, log } = bench;
  const seen: SeenAnswer[] = [];
  for (let begun = 0; begun < STREAMS; begun += ABREAST) {
    const wave = Array.from({ length: Math.min(ABREAST, STREAMS - begun) }, (_, index) => {
      const isWhole = Math.random() < 0.2;
      const leaveAfter = isWhole ? Number.POSITIVE_INFINITY : Math.floor(Math.random() * WHOLE_TOKENS);
      return streamUntil(gateway, `caller ${begun + index}`, leaveAfter);
    });
    seen.push(...(await Promise.all(wave)));
  }
  await gateway.drain(10_000);
  const recorded = recordedAnswers(gateway.dataDir);
  rmSync(gateway.dataDir, { recursive: true, force: true });
  await upstream.close();
  return { seen, recorded, log };
}

describe('streams whose callers leave at random points', () => {
  it.each([
    ['acme', 'is told to stop'],
    ['groq', 'bills what it was asked for'],
  ])(
    'are each recorded once, and charged: an upstream (%s) that %s',
    async (slug) => {
      const { seen, recorded, log } = await run(slug);
      // Nothing is missing, nothing double: by the upstream's own log.
      expect(recorded.map(({ user }) => user).sort()).toEqual(log.map(({ user }) => user).sort());
      expect(new Set(recorded.map(({ id }) => id)).size).toBe(recorded.length);
      for (const record of recorded) {
        const sent = log.find(({ user }) => user === record.user);
        const got = seen.find(({ user }) => user === record.user);
        if (sent === undefined || got === undefined) throw new Error(`nobody knows ${record.user}`);
        expect(record.creditNanos).toBe(BigInt(record.tokens) * NANOS_PER_TOKEN);
        expect(record.tokens).toBeGreaterThanOrEqual(got.tokens);
        // One who leaves while the very end is on its way has had a whole answer, as far as anybody can know.
        if (got.isWhole) expect(record.cancelled).toBe(false);
        if (!record.cancelled || (slug === 'groq' && sent.isWhole)) {
          expect(record).toMatchObject({ tokens: WHOLE_TOKENS, source: 'measured' });
        } else {
          expect(record.tokens).toBeLessThanOrEqual(tokensBy(sent, Number.POSITIVE_INFINITY) + 10);
        }
      }
      const hasWhole = log.every(({ isWhole }) => isWhole);
      expect(hasWhole).toBe(slug === 'groq');
    },
    120_000,
  );
});
