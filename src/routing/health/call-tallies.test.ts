import { describe, expect, it } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { CallTallies } from './call-tallies.ts';
import { Health } from './health.ts';

const EAST = 'm/one\neast\nx';
const WEST = 'm/one\nwest\nx';
const FIRST = { isRetry: false, isLastCandidate: false };
const SUCCESS = { outputTokens: 10, toolCalls: 'none' } as const;

describe('CallTallies', () => {
  it('gives what was counted once, and adds what other processes have counted', () => {
    const tallies = new CallTallies();
    const east = tallies.at(EAST);
    if (east !== undefined) east.calls++;
    tallies.at(WEST);
    tallies.add([{ site: EAST, calls: 2, failures: 1 }]);
    expect(tallies.take()).toEqual([{ site: EAST, calls: 3, failures: 1 }]);
    expect(tallies.take()).toEqual([]);
    if (east !== undefined) east.failures++;
    expect(tallies.take()).toEqual([{ site: EAST, calls: 0, failures: 1 }]);
  });

  it('leaves out sites that do not count', () => {
    const tallies = new CallTallies((site) => site === EAST);
    expect(tallies.at(WEST)).toBeUndefined();
    tallies.add([{ site: WEST, calls: 1, failures: 0 }]);
    expect(tallies.take()).toEqual([]);
  });
});

describe('the calls that count for uptime', () => {
  const opened = () => {
    const callTallies = new CallTallies();
    const clock = new HandClock();
    const settings = () => ({ failures: 5, baseMs: 30_000, maxMs: 300_000 });
    return { callTallies, health: new Health({ clock, random: () => 0, settings, callTallies }) };
  };

  it('are those with a verdict about the endpoint', () => {
    const { health, callTallies } = opened();
    const call = () => health.enter(EAST, FIRST, 'account');
    call()?.succeeded(SUCCESS);
    const streamed = call();
    streamed?.firstToken();
    streamed?.succeeded(SUCCESS);
    call()?.failed({ counts: true, isRateLimit: false });
    // The caller's own fault, and a caller that left: no verdict.
    call()?.failed({ counts: false, isRateLimit: false });
    call()?.abandoned();
    expect(callTallies.take()).toEqual([{ site: EAST, calls: 3, failures: 1 }]);
  });

  it('have failures after their first token', () => {
    const { health, callTallies } = opened();
    const cut = health.enter(EAST, FIRST);
    cut?.firstToken();
    expect(callTallies.take()).toEqual([{ site: EAST, calls: 1, failures: 0 }]);
    cut?.failed({ counts: true, isRateLimit: false });
    expect(callTallies.take()).toEqual([{ site: EAST, calls: 0, failures: 1 }]);
  });

  it('have rate limits of the provider, which pause the endpoint', () => {
    const { health, callTallies } = opened();
    health.enter(EAST, FIRST)?.failed({ counts: true, isRateLimit: true, retryAfterMs: 1_000 });
    expect(callTallies.take()).toEqual([{ site: EAST, calls: 1, failures: 1 }]);
  });

  it('are not those that other processes report', () => {
    const { health, callTallies } = opened();
    const measured = {
      calls: 9,
      failures: 9,
      failuresOfOne: 0,
      toolAnswers: 0,
      badToolAnswers: 0,
      latency: [],
      throughput: [],
    };
    const report = {
      site: EAST,
      account: null,
      hasSucceeded: true,
      failures: [],
      cooldown: null,
      isBack: false,
      pauseMs: 0,
      deferralMs: 0,
      measured,
    };
    health.applyNews({ health: [report], ageMs: 0 });
    expect(health.statistics(EAST).uptime5m).toBe(0);
    expect(callTallies.take()).toEqual([]);
  });
});
