import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { openLives, type ReceivedAnswer } from './gateway-lives.ts';
import { NANOS_PER_TOKEN, tokensBy } from './sent-answers.ts';

/** How long a gateway lives at most before it is killed, milliseconds. */
const MAX_LIFE_MS = 2500;

/** Requests a second while it lives. */
const PER_SECOND = 100;

/**
 * Tokens that a caller may have been given since the last checkpoint of its stream: as many as are written down at a
 * time, or a second.
 */
const UNNOTED_TOKENS = 200;
const UNNOTED_MS = 1000;

/** What scheduling may add to that on a busy machine, milliseconds. */
const SLACK_MS = 1000;

/** How the lives are led. */
export interface LifeOptions {
  /** Flags of the start. */
  readonly flags?: readonly string[];
  /** Longest life, milliseconds. */
  readonly maxLifeMs?: number;
  /** Kills parts of a living gateway for `forMs`. Resolves with the moments, by `performance.now()`. */
  meanwhile?(living: ChildProcess, forMs: number): Promise<readonly number[]>;
}

/**
 * Kills a gateway under load, so many times, at random moments, then compares its records with what callers and the
 * upstream saw. Resolves with how long the longest start took, milliseconds.
 */
export async function killAndCompare(
  count: number,
  { flags = [], maxLifeMs = MAX_LIFE_MS, meanwhile }: LifeOptions = {},
): Promise<number> {
  const lives = await openLives(flags);
  try {
    const killedAt: number[] = [];
    for (let life = 0; life < count; life++) {
      // The first run is long enough for some answers.
      const forMs = life === 0 ? maxLifeMs : Math.random() * maxLifeMs;
      const endedAt = await lives.live(PER_SECOND, forMs, async (living) => {
        killedAt.push(...((await meanwhile?.(living, forMs)) ?? []));
        // A busy machine may take longer for the first answers.
        while (life === 0 && lives.acknowledged.length === 0) await delay(50);
      });
      killedAt.push(endedAt);
    }
    const { recorded, verified, counted } = await lives.rest();
    const byUser = new Map(recorded.map((record) => [record.user, record]));
    expect(byUser.size).toBe(recorded.length);
    expect(verified.open_reservations).toBe(0);
    expect(verified.accounts.map(({ difference_nanos }) => Number(difference_nanos))).toEqual([0]);
    const charged = recorded.reduce((sum, { creditNanos }) => sum + creditNanos, 0n);
    expect(counted).toEqual([
      { settledNanos: charged, events: { requests: BigInt(recorded.length), creditNanos: charged } },
    ]);
    expect(lives.acknowledged.length).toBeGreaterThan(0);
    for (const { user, id } of lives.acknowledged) {
      const answer = lives.sent.find((each) => each.user === user);
      expect(byUser.get(user)).toMatchObject({
        id,
        tokens: answer?.wanted,
        source: 'measured',
        finishReason: 'stop',
        creditNanos: BigInt(answer?.wanted ?? -1) * NANOS_PER_TOKEN,
      });
    }
    let checked = 0;
    for (const answer of lives.sent) {
      const record = byUser.get(answer.user);
      if (record === undefined) throw new Error(`${answer.user} was sent and not recorded`);
      expect(record.creditNanos).toBe(BigInt(record.tokens) * NANOS_PER_TOKEN);
      if (record.source === 'measured') continue;
      const given = tokensBy(answer, Number.POSITIVE_INFINITY);
      expect(record.finishReason).toBe('error');
      // Our tokenizer counts a token more where an answer was cut for counting.
      expect(record.tokens).toBeLessThanOrEqual(given * 1.05 + 2);
      const received = lives.received.get(answer.user);
      if (received === undefined) throw new Error(`${answer.user} was sent and not asked for`);
      // One of these kills ended it, the first or a later one.
      const killed = killedAt.find((at) => at >= received.askedAtMs) ?? 0;
      const reached = receivedBy(received, Number.POSITIVE_INFINITY);
      const noted = receivedBy(received, killed - UNNOTED_MS - SLACK_MS);
      const lived = Math.round(killed - received.askedAtMs);
      if (noted > 0) checked += 1;
      expect(
        record.tokens,
        `${answer.user}: ${reached} tokens came, ${noted} of them long before a kill ${lived} ms after the request`,
      ).toBeGreaterThanOrEqual(Math.min(noted, reached - UNNOTED_TOKENS));
    }
    const slowest = Math.max(...lives.readyAfterMs);
    console.log(
      `${count} lives: ${lives.sent.length} sent, ${lives.acknowledged.length} acknowledged, ${recorded.length} recorded, ${checked} streams cut off long after a checkpoint, ready after at most ${Math.round(slowest)} ms`,
    );
    return slowest;
  } finally {
    await lives.close();
  }
}

/** Tokens that a caller had been given at a moment. */
function receivedBy({ tokens }: ReceivedAnswer, atMs: number): number {
  return tokens.filter((piece) => piece.atMs <= atMs).reduce((sum, { count }) => sum + count, 0);
}
