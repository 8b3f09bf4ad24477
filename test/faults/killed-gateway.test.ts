import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lives, openLives } from './gateway-lives.ts';
import { NANOS_PER_TOKEN, tokensBy } from './sent-answers.ts';

/** Lives of one run; `KILLED_LIVES=50` for a long one. */
const LIVES = Number(process.env.KILLED_LIVES ?? 2);

/** How long a gateway lives at most before it is killed, milliseconds. */
const LONGEST_MS = 2500;

/** Tokens that a stream may have gone on since its last checkpoint: as many as are written down at a time, or a second. */
const UNNOTED_TOKENS = 200;
const UNNOTED_MS = 1000;

/** What scheduling may add to that on a busy machine, milliseconds. */
const SLACK_MS = 1000;

let lives: Lives;

beforeEach(async () => {
  lives = await openLives();
});

afterEach(() => lives.close());

describe('a gateway that is killed at random moments under load', () => {
  it(
    'loses nothing that it acknowledged, settles nothing twice and leaves nothing open',
    async () => {
      const killedAt: number[] = [];
      for (let life = 0; life < LIVES; life++) {
        await lives.live(100, LONGEST_MS);
        killedAt.push(performance.now());
      }
      const { recorded, verified } = await lives.rest();
      const byUser = new Map(recorded.map((record) => [record.user, record]));
      expect(byUser.size).toBe(recorded.length);
      expect(verified.open_reservations).toBe(0);
      expect(verified.accounts.map(({ difference_nanos }) => Number(difference_nanos))).toEqual([0]);
      for (const { user, id } of lives.acknowledged) {
        const record = byUser.get(user);
        const answer = lives.sent.find((each) => each.user === user);
        expect(record).toMatchObject({
          id,
          tokens: answer?.wanted,
          source: 'measured',
          finishReason: 'stop',
          creditNanos: BigInt(answer?.wanted ?? -1) * NANOS_PER_TOKEN,
        });
      }
      for (const answer of lives.sent) {
        const record = byUser.get(answer.user);
        if (record === undefined) throw new Error(`${answer.user} was sent and not recorded`);
        expect(record.creditNanos).toBe(BigInt(record.tokens) * NANOS_PER_TOKEN);
        const given = tokensBy(answer, Number.POSITIVE_INFINITY);
        if (record.source === 'measured') continue;
        expect(record.finishReason).toBe('error');
        expect(record.tokens).toBeLessThanOrEqual(given);
        const died = killedAt.find((at) => at >= (answer.given[0]?.atMs ?? 0)) ?? 0;
        const noted = tokensBy(answer, died - UNNOTED_MS - SLACK_MS);
        expect(record.tokens).toBeGreaterThanOrEqual(Math.min(noted, given - UNNOTED_TOKENS));
      }
      expect(lives.acknowledged.length).toBeGreaterThan(0);
      console.log(
        `${LIVES} lives: ${lives.sent.length} sent, ${lives.acknowledged.length} acknowledged, ${recorded.length} recorded, ready after at most ${Math.round(Math.max(...lives.readyAfterMs))} ms`,
      );
    },
    60_000 + LIVES * 20_000,
  );
});
