import { beforeEach, describe, expect, it } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { isHealthy, UNTRIED } from './endpoint-health.ts';
import { type CallContext, Health } from './health.ts';
import type { HealthTicket, TicketFailure } from './health-ticket.ts';
import { NO_STATISTICS } from './measurements.ts';

const FIRST: CallContext = { isRetry: false, isLastCandidate: false };
const LAST_HOPE: CallContext = { isRetry: false, isLastCandidate: true };
const RETRY: CallContext = { isRetry: true, isLastCandidate: false };

const BROKEN: TicketFailure = { counts: true, isRateLimit: false };
const GOOD = { outputTokens: 0, toolCalls: 'none' } as const;

let clock: HandClock;
let random: number;
let health: Health;

beforeEach(() => {
  clock = new HandClock();
  random = 0;
  health = new Health({
    clock,
    random: () => random,
    settings: () => ({ failures: 5, baseMs: 30_000, maxMs: 300_000 }),
  });
});

function enter(site = 'a', situation: CallContext = FIRST): HealthTicket {
  const ticket = health.enter(site, situation);
  if (ticket === undefined) throw new Error(`${site} refuses the call`);
  return ticket;
}

function fail(times: number, site = 'a', situation: CallContext = FIRST): void {
  for (let time = 0; time < times; time++) enter(site, situation).failed(BROKEN);
}

/** Cools a site down again and again: each time its time is up, the one call that may try it fails. */
function coolDown(rounds: number): void {
  fail(5);
  for (let round = 1; round < rounds; round++) {
    clock.pass(health.wait('a'));
    fail(1);
  }
}

describe('a cool-down', () => {
  it('begins with the fifth failure in a row, not before', () => {
    fail(4);
    expect(health.of('a')).toMatchObject({ state: 'ok', failures: 4 });
    fail(1);
    expect(health.of('a')).toMatchObject({ state: 'cooling', failures: 5 });
    expect(health.enter('a', FIRST)).toBeUndefined();
    expect(health.enter('b', FIRST)).toBeDefined();
    expect(health.cooling()).toBe(1);
  });

  it('does not begin when a success was in between', () => {
    fail(4);
    enter().succeeded(GOOD);
    fail(4);
    expect(health.of('a')).toMatchObject({ state: 'ok', failures: 4 });
  });

  it.each([
    [1, 0, 30_000],
    [1, 0.999999, 36_000],
    [2, 0, 60_000],
    [2, 0.5, 66_000],
    [9, 0.5, 297_000],
    [10, 0, 300_000],
    [10, 0.9, 300_000],
    [40, 0.9, 300_000],
  ])('of round %d with jitter %d takes %d ms', (rounds, jitter, expectedMs) => {
    random = jitter;
    coolDown(rounds);
    expect(health.wait('a')).toBeCloseTo(expectedMs, -1);
  });

  it('is followed by probation: one call at a time', () => {
    coolDown(1);
    clock.pass(29_999);
    expect(health.of('a').state).toBe('cooling');
    clock.pass(1);
    expect(health.of('a').state).toBe('probing');
    const probe = enter();
    expect(health.enter('a', FIRST)).toBeUndefined();
    expect(health.wait('a')).toBe(1000);
    probe.succeeded(GOOD);
    expect(health.of('a')).toMatchObject({ state: 'ok', failures: 0 });
    expect(health.wait('a')).toBe(0);
  });

  it('begins again at its first length after a success', () => {
    coolDown(3);
    clock.pass(health.wait('a'));
    enter().succeeded(GOOD);
    fail(5);
    expect(health.wait('a')).toBe(30_000);
  });

  it('frees the probe if its caller disconnected or its request was bad', () => {
    coolDown(1);
    clock.pass(30_000);
    enter().abandoned();
    expect(health.of('a').state).toBe('probing');
    enter().failed({ counts: false, isRateLimit: false });
    expect(health.of('a').state).toBe('probing');
    enter().succeeded(GOOD);
    expect(health.of('a').state).toBe('ok');
  });

  it('ends with the first token of a probe: a long answer blocks no calls', () => {
    coolDown(1);
    clock.pass(30_000);
    const probe = enter();
    probe.firstToken();
    expect(health.of('a').state).toBe('ok');
    enter().succeeded(GOOD);
    probe.succeeded(GOOD);
    expect(health.of('a').failures).toBe(0);
  });

  it('comes back, longer, when the probe breaks off after its first token', () => {
    coolDown(1);
    clock.pass(30_000);
    const probe = enter();
    probe.firstToken();
    probe.failed(BROKEN);
    expect(health.of('a').state).toBe('cooling');
    expect(health.wait('a')).toBe(60_000);
  });

  it('is not made longer by calls that began before it', () => {
    const early = Array.from({ length: 50 }, () => enter());
    for (const ticket of early) ticket.failed(BROKEN);
    expect(health.wait('a')).toBe(30_000);
    expect(health.of('a').failures).toBe(5);
  });

  it('is not ended by calls that began before it', () => {
    const early = enter();
    fail(5);
    early.firstToken();
    early.succeeded(GOOD);
    expect(health.of('a').state).toBe('cooling');
  });

  it('counts failures after the first token', () => {
    for (let time = 0; time < 5; time++) {
      const ticket = enter();
      ticket.firstToken();
      ticket.failed(BROKEN);
    }
    expect(health.of('a').state).toBe('cooling');
  });

  it('does not count failures of the request', () => {
    for (let time = 0; time < 20; time++) enter().failed({ counts: false, isRateLimit: false });
    expect(health.of('a')).toMatchObject({ state: 'ok', failures: 0, isUnstable: false });
  });

  it('follows settings that change', () => {
    const eager = new Health({
      clock,
      random: () => 0,
      settings: () => ({ failures: 1, baseMs: 10, maxMs: 20 }),
    });
    eager.enter('a', FIRST)?.failed(BROKEN);
    expect(eager.wait('a')).toBe(10);
  });
});

describe('a cooling site that is the last candidate', () => {
  beforeEach(() => coolDown(1));

  it('is probed at once, by one call at a time', () => {
    const probe = enter('a', LAST_HOPE);
    expect(health.enter('a', LAST_HOPE)).toBeUndefined();
    probe.succeeded(GOOD);
    expect(health.of('a').state).toBe('ok');
  });

  it('is probed again a second after a probe failed, and cools no longer for it', () => {
    fail(1, 'a', LAST_HOPE);
    clock.pass(999);
    expect(health.enter('a', LAST_HOPE)).toBeUndefined();
    clock.pass(1);
    fail(1, 'a', LAST_HOPE);
    expect(health.wait('a')).toBe(29_000);
  });

  it('cools anew when the probe outlasted the cool-down', () => {
    const probe = enter('a', LAST_HOPE);
    clock.pass(40_000);
    probe.failed(BROKEN);
    expect(health.wait('a')).toBe(60_000);
  });

  it('makes no more calls than one a second when it is the only one, and fails', () => {
    let calls = 0;
    for (let request = 0; request < 1500; request++) {
      const ticket = health.enter('a', LAST_HOPE);
      if (ticket !== undefined) calls++;
      ticket?.failed(BROKEN);
      clock.pass(20);
    }
    expect(calls).toBeGreaterThan(20);
    expect(calls).toBeLessThanOrEqual(30);
  });
});

describe('a rate limit', () => {
  const limited = (retryAfterMs?: number): TicketFailure => ({
    counts: true,
    isRateLimit: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

  it('pauses the site for the retry-after and refuses all calls', () => {
    enter().failed(limited(7000));
    expect(health.of('a')).toMatchObject({ state: 'ok', failures: 0, pausedUntilMs: clock.now() + 7000 });
    expect(health.enter('a', LAST_HOPE)).toBeUndefined();
    clock.pass(6999);
    expect(health.retryAfterSeconds(['a'])).toBe(1);
    expect(health.enter('a', FIRST)).toBeUndefined();
    clock.pass(1);
    expect(health.of('a').pausedUntilMs).toBe(0);
    expect(health.enter('a', FIRST)).toBeDefined();
  });

  it('pauses for 5 minutes at most, and is never shortened', () => {
    const [long, short] = [enter(), enter()];
    long.failed(limited(3_600_000));
    short.failed(limited(1000));
    expect(health.wait('a')).toBe(300_000);
  });

  it('counts towards a cool-down only without a retry-after', () => {
    const openCalls = Array.from({ length: 5 }, () => enter());
    for (const ticket of openCalls) ticket.failed(limited(1000));
    expect(health.of('a')).toMatchObject({ state: 'ok', isUnstable: true });
    for (let time = 0; time < 5; time++) enter('b').failed(limited());
    expect(health.of('b').state).toBe('cooling');
  });

  it('ends a probe without a verdict', () => {
    coolDown(1);
    clock.pass(30_000);
    enter().failed(limited(2000));
    expect(health.of('a')).toMatchObject({ state: 'probing', pausedUntilMs: clock.now() + 2000 });
    clock.pass(2000);
    expect(health.enter('a', FIRST)).toBeDefined();
  });
});

describe('a failure with a retry-after', () => {
  const overloaded: TicketFailure = { counts: true, isRateLimit: false, retryAfterMs: 7000 };

  it('defers the site, and still admits calls', () => {
    enter().failed(overloaded);
    expect(health.of('a')).toMatchObject({
      state: 'ok',
      failures: 1,
      pausedUntilMs: 0,
      deferredUntilMs: clock.now() + 7000,
    });
    expect(health.wait('a')).toBe(0);
    expect(health.enter('a', FIRST)).toBeDefined();
    expect(health.enter('a', FIRST)).toBeDefined();
    clock.pass(6999);
    expect(health.of('a').deferredUntilMs).toBeGreaterThan(0);
    clock.pass(1);
    expect(health.of('a').deferredUntilMs).toBe(0);
  });

  it('counts as a failure', () => {
    for (let time = 0; time < 5; time++) enter().failed(overloaded);
    expect(health.of('a')).toMatchObject({ state: 'cooling', pausedUntilMs: 0 });
  });

  it('defers for 5 minutes at most, and is never shortened', () => {
    const [long, short] = [enter(), enter()];
    long.failed({ ...overloaded, retryAfterMs: 3_600_000 });
    short.failed(overloaded);
    expect(health.of('a').deferredUntilMs).toBe(clock.now() + 300_000);
  });

  it("has no effect if the failure is the request's", () => {
    enter().failed({ ...overloaded, counts: false });
    expect(health.of('a').deferredUntilMs).toBe(0);
  });
});

describe('isHealthy', () => {
  it.each([
    [{}, true],
    [{ state: 'probing' }, true],
    [{ state: 'cooling' }, false],
    [{ isUnstable: true }, false],
    [{ pausedUntilMs: 1 }, false],
    [{ deferredUntilMs: 1 }, false],
  ] as const)('%j: %j', (changes, expected) => {
    expect(isHealthy({ ...UNTRIED, ...changes })).toBe(expected);
  });
});

describe('a probe that takes long', () => {
  it('admits another one after 10 seconds', () => {
    fail(5);
    clock.pass(40_000);
    enter('a');
    clock.pass(9_999);
    expect(health.enter('a', FIRST)).toBeUndefined();
    clock.pass(1);
    const second = enter('a');
    expect(health.enter('a', FIRST)).toBeUndefined();
    second.firstToken();
    expect(health.of('a').state).toBe('ok');
  });
});

describe('the retry budget', () => {
  it('lets 3 retries onto failing sites be under way, and any number onto healthy ones', () => {
    fail(1);
    const retries = [enter('a', RETRY), enter('a', RETRY), enter('a', RETRY)];
    expect(health.enter('a', RETRY)).toBeUndefined();
    expect(health.enter('a', FIRST)).toBeDefined();
    expect(health.enter('b', RETRY)).toBeDefined();
    retries[0]?.abandoned();
    expect(health.enter('a', RETRY)).toBeDefined();
  });

  it('grows to a fifth of the calls of the site under way', () => {
    for (let call = 0; call < 100; call++) enter('a');
    fail(1);
    let retries = 0;
    while (health.enter('a', RETRY) !== undefined) retries++;
    expect(retries).toBe(25);
  });

  it('is given back once a retry is answered, and its site is no longer limited', () => {
    fail(1);
    const retries = [enter('a', RETRY), enter('a', RETRY), enter('a', RETRY)];
    retries[0]?.firstToken();
    expect(health.enter('a', RETRY)).toBeDefined();
  });

  it('is separate for each site', () => {
    fail(1);
    for (let retry = 0; retry < 3; retry++) enter('a', RETRY);
    fail(1, 'b');
    expect(health.enter('a', RETRY)).toBeUndefined();
    expect(health.enter('b', RETRY)).toBeDefined();
  });
});

describe('what is measured', () => {
  function answer(latencyMs: number, durationMs: number, outputTokens: number, site = 'a'): void {
    const ticket = enter(site);
    clock.pass(latencyMs);
    ticket.firstToken();
    clock.pass(durationMs);
    ticket.succeeded({ outputTokens, toolCalls: 'none' });
  }

  it('is the time to the first token and the tokens per second after it', () => {
    for (let time = 0; time < 10; time++) answer(200, 1000, 50);
    clock.pass(1000);
    const { latency, throughput } = health.of('a');
    expect((latency?.p50 ?? 0) / 200).toBeCloseTo(1, 1);
    expect((throughput?.p99 ?? 0) / 50).toBeCloseTo(1, 1);
  });

  it('is available right after the first answer', () => {
    expect(health.of('a').latency).toBeUndefined();
    answer(200, 1000, 50);
    expect(health.of('a').latency).toBeDefined();
  });

  it('leaves out the pace of answers that are too short to have one', () => {
    answer(200, 1000, 1);
    answer(200, 0.5, 50);
    expect(health.of('a').throughput).toBeUndefined();
  });

  it('leaves out the latency of answers that came whole', () => {
    const ticket = enter();
    clock.pass(9000);
    ticket.succeeded({ outputTokens: 100, toolCalls: 'none' });
    expect(health.of('a')).toMatchObject({ latency: undefined, throughput: undefined });
    expect(health.statistics('a').uptime5m).toBe(100);
  });

  it('is forgotten after 5 minutes by routing, after 30 by the endpoints list', () => {
    answer(200, 1000, 50);
    clock.pass(6 * 60_000);
    expect(health.of('a').latency).toBeUndefined();
    expect(health.statistics('a').latency30m?.p50).toBeCloseTo(200, -1);
    clock.pass(30 * 60_000);
    expect(health.statistics('a')).toMatchObject({ latency30m: null, throughput30m: null, uptime30m: null });
  });

  it('is uptime over 5 minutes, 30 minutes and a day', () => {
    fail(4);
    clock.pass(6 * 60_000);
    for (let time = 0; time < 4; time++) answer(10, 10, 0);
    expect(health.statistics('a')).toMatchObject({ uptime5m: 100, uptime30m: 50, uptime1d: 50 });
    clock.pass(40 * 60_000);
    expect(health.statistics('a')).toMatchObject({ uptime5m: null, uptime30m: null, uptime1d: 50 });
    clock.pass(24 * 3_600_000);
    expect(health.statistics('a')).toEqual(NO_STATISTICS);
  });

  it.each([
    ['nothing', 0, 0, false],
    ['no failure', 10, 0, false],
    ['fewer than a fifth', 9, 2, false],
    ['a fifth', 8, 2, true],
    ['failures alone', 0, 1, true],
  ])('is instability within 30 seconds: %s', (_, successes, failures, isUnstable) => {
    for (let time = 0; time < successes; time++) enter().succeeded(GOOD);
    fail(failures);
    expect(health.of('a').isUnstable).toBe(isUnstable);
    clock.pass(30_000);
    expect(health.of('a').isUnstable).toBe(false);
  });

  it('counts answers that are still being written as calls that went well', () => {
    const long = Array.from({ length: 9 }, () => enter());
    for (const ticket of long) ticket.firstToken();
    fail(2);
    expect(health.of('a').isUnstable).toBe(false);
  });

  it('is the share of answers with broken tool calls, once there are enough', () => {
    const tools = (toolCalls: 'good' | 'bad') => enter().succeeded({ outputTokens: 9, toolCalls });
    for (let time = 0; time < 15; time++) tools('good');
    for (let time = 0; time < 4; time++) tools('bad');
    expect(health.of('a').toolErrorRate).toBeUndefined();
    tools('bad');
    expect(health.of('a').toolErrorRate).toBe(0.25);
  });

  it('ignores calls whose caller disconnected before the first token', () => {
    enter().abandoned();
    expect(health.of('a')).toEqual(UNTRIED);
    expect(health.statistics('a')).toEqual(NO_STATISTICS);
  });
});

describe('a ticket', () => {
  it('ends once: later reports have no effect', () => {
    const ticket = enter();
    ticket.succeeded(GOOD);
    ticket.succeeded(GOOD);
    ticket.failed(BROKEN);
    ticket.abandoned();
    ticket.firstToken();
    expect(health.of('a')).toMatchObject({ failures: 0, isUnstable: false, latency: undefined });
    const left = enter();
    left.abandoned();
    left.failed(BROKEN);
    expect(health.of('a').failures).toBe(0);
  });
});

describe('the retry-after for callers', () => {
  it.each([
    [[], 300],
    [['new'], 1],
    [['a'], 30],
    [['a', 'b'], 7],
    [['c'], 300],
  ])('for %j is %d seconds', (sites, seconds) => {
    fail(5, 'a');
    enter('b').failed({ counts: true, isRateLimit: true, retryAfterMs: 6500 });
    enter('c').failed({ counts: true, isRateLimit: true, retryAfterMs: 900_000 });
    expect(health.retryAfterSeconds(sites)).toBe(seconds);
  });
});

describe('the memory of sites', () => {
  const small = () =>
    new Health(
      { clock, random: () => 0, settings: () => ({ failures: 1, baseMs: 30_000, maxMs: 300_000 }) },
      3,
    );

  it('is bounded: the least recently called site is evicted', () => {
    const health = small();
    for (const site of ['a', 'b', 'c']) health.enter(site, FIRST)?.failed(BROKEN);
    health.enter('a', LAST_HOPE)?.failed(BROKEN);
    health.enter('d', FIRST)?.failed(BROKEN);
    expect(health.of('b')).toBe(UNTRIED);
    expect(['a', 'c', 'd'].map((site) => health.of(site).state)).toEqual(['cooling', 'cooling', 'cooling']);
  });

  it('keeps sites with calls under way', () => {
    const health = small();
    const busy = health.enter('busy', FIRST);
    for (let index = 0; index < 10; index++) health.enter(`idle${index}`, FIRST)?.abandoned();
    busy?.failed(BROKEN);
    expect(health.of('busy').state).toBe('cooling');
  });

  it('evicts no site while all have open calls, and is bounded again later', () => {
    const health = small();
    const openCalls = ['a', 'b', 'c', 'd', 'e'].map((site) => health.enter(site, FIRST));
    for (const ticket of openCalls) ticket?.failed(BROKEN);
    expect(health.cooling()).toBe(5);
    for (let index = 0; index < 3; index++) health.enter(`new${index}`, FIRST)?.abandoned();
    expect(health.cooling()).toBe(0);
  });
});

describe('failures of one account', () => {
  const SETTINGS = { failures: 5, baseMs: 30_000, maxMs: 300_000 };
  const CONNECTION: TicketFailure = { ...BROKEN, isConnection: true };

  function failAs(account: string, times: number, failure: TicketFailure = BROKEN): void {
    for (let time = 0; time < times; time++) {
      health.forAccount(account).enter('a', FIRST)?.failed(failure);
    }
  }

  it('cool the site down for that account alone', () => {
    failAs('one', 5);
    expect(health.of('a', 'one')).toMatchObject({ state: 'cooling', isOfAccount: true, failures: 5 });
    expect(health.of('a', 'other')).toMatchObject({ state: 'ok', isUnstable: false });
    expect(health.forAccount('one').enter('a', FIRST)).toBeUndefined();
    expect(health.forAccount('one').retryAfterSeconds(['a'])).toBe(30);
    expect(health.forAccount('other').enter('a', FIRST)).toBeDefined();
    expect(health.forAccount('other').retryAfterSeconds(['a'])).toBe(1);
    expect(health.coolingSites()).toEqual([{ site: 'a', accounts: 1, leftMs: 30_000 }]);
  });

  it.each([1, 2, 5, 6])('never cool it down for others, with a threshold of %d', (failures) => {
    health = new Health({ clock, random: () => 0, settings: () => ({ ...SETTINGS, failures }) });
    for (let round = 0; round < 20; round++) {
      failAs('one', 10);
      clock.pass(30_000);
    }
    expect(health.of('a', 'other').state).toBe('ok');
  });

  it('cool it down for all together with those of another account', () => {
    failAs('one', 4);
    failAs('other', 2);
    expect(health.of('a', 'third')).toMatchObject({ state: 'cooling', isOfAccount: false });
    expect(health.coolingSites()).toEqual([{ site: 'a', accounts: 0, leftMs: 30_000 }]);
  });

  it('cool it down for all if the connection failed', () => {
    failAs('one', 5, CONNECTION);
    expect(health.of('a', 'other')).toMatchObject({ state: 'cooling', isOfAccount: false });
  });

  it('do not prolong a cool-down for all more than once', () => {
    failAs('one', 5, CONNECTION);
    clock.pass(30_000);
    failAs('one', 1);
    expect(health.of('a', 'other').state).toBe('cooling');
    clock.pass(60_000);
    failAs('one', 1);
    expect(health.of('a', 'other').state).toBe('probing');
    health.forAccount('other').enter('a', FIRST)?.succeeded(GOOD);
    expect(health.of('a', 'one').state).toBe('ok');
  });

  it('make it unstable and defer it for that account alone', () => {
    failAs('one', 1, { ...BROKEN, retryAfterMs: 7000 });
    expect(health.of('a', 'one')).toMatchObject({ isUnstable: true, deferredUntilMs: clock.now() + 7000 });
    expect(health.of('a', 'other')).toMatchObject({ isUnstable: false, deferredUntilMs: 0 });
    expect(health.statistics('a').uptime5m).toBe(0);
  });

  it('are forgotten after a success of the account', () => {
    failAs('one', 4);
    health.forAccount('one').enter('a', FIRST)?.succeeded(GOOD);
    failAs('one', 4);
    expect(health.of('a', 'one')).toMatchObject({ state: 'ok', failures: 4 });
  });

  it('are followed by probation of that account: one call at a time', () => {
    failAs('one', 5);
    clock.pass(30_000);
    const own = health.forAccount('one');
    const probe = own.enter('a', FIRST);
    expect(probe).toBeDefined();
    expect(own.enter('a', FIRST)).toBeUndefined();
    probe?.succeeded(GOOD);
    expect(health.of('a', 'one')).toMatchObject({ state: 'ok', failures: 0 });
  });

  it('are remembered of a bounded number of accounts', () => {
    health = new Health({ clock, random: () => 0, settings: () => SETTINGS }, 10, 3);
    for (const account of ['one', 'two', 'three', 'four']) {
      const tickets = Array.from({ length: 5 }, () => health.forAccount(account).enter('a', FIRST));
      for (const ticket of tickets) ticket?.failed(BROKEN);
      health.enter('a', FIRST)?.succeeded(GOOD);
    }
    expect(['one', 'two', 'three', 'four'].map((account) => health.of('a', account).state)).toEqual([
      'ok',
      'cooling',
      'cooling',
      'cooling',
    ]);
  });
});
