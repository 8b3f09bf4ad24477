import { beforeEach, describe, expect, it } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { MemoryRoutingMemory } from '../../store/routing-memory/memory-routing-memory.ts';
import { Pins } from '../conversation/pins.ts';
import { Health } from '../health/health.ts';
import { HealthNews } from '../health/health-news.ts';
import type { HealthTicket } from '../health/health-ticket.ts';
import type { ServiceChange } from '../health/service-watch.ts';
import { NewsExchanger } from './news-exchanger.ts';
import { probeRights, sharedPins } from './shared-routing.ts';

const SITE = 'acme\nlarge-v1';
const FAILURE = { counts: true, isRateLimit: false } as const;
const SUCCESS = { outputTokens: 10, toolCalls: 'none' } as const;
const FIRST = { isRetry: false, isLastCandidate: false };
const LAST = { isRetry: false, isLastCandidate: true };

let clock: HandClock;
let memory: MemoryRoutingMemory;
let isCut: boolean;

/** A process with its own health and pins, which exchanges news when it is told to. */
function openProcess(id: string) {
  const ask = <T>(work: () => Promise<T>): Promise<T> => (isCut ? Promise.reject(new Error('away')) : work());
  const news = new HealthNews(clock);
  const changes: ServiceChange['kind'][] = [];
  const health = new Health({
    clock,
    random: () => 0,
    settings: () => ({ failures: 5, baseMs: 30_000, maxMs: 300_000 }),
    report: ({ kind }) => changes.push(kind),
    news,
    probeRights: probeRights(memory, ask, id),
  });
  const shared = sharedPins(memory, ask, (key) => exchanger.pinMoved(key));
  const pins = new Pins({ clock, idleMs: () => 600_000, shared });
  const exchanger = new NewsExchanger({
    memory,
    ask,
    news,
    health,
    pins,
    gatewayId: id,
    processId: id,
    clock,
  });
  const enter = (context = FIRST, account?: string) => health.enter(SITE, context, account);
  const fail = (times: number, account?: string, context = FIRST) => {
    for (let count = 0; count < times; count++) enter(context, account)?.failed(FAILURE);
  };
  return { health, pins, exchanger, changes, enter, fail };
}

type Process = ReturnType<typeof openProcess>;

let a: Process;
let b: Process;

/** Both have exchanged twice: all news has arrived. */
async function settle() {
  for (const { exchanger } of [a, b, a, b]) await exchanger.exchange();
}

const stateAt = ({ health }: Process, account?: string) => health.of(SITE, account).state;

beforeEach(() => {
  clock = new HandClock();
  memory = new MemoryRoutingMemory(clock);
  isCut = false;
  a = openProcess('a');
  b = openProcess('b');
});

describe('news of health', () => {
  it('lets a cool-down hold at every process, as long as where it began', async () => {
    a.fail(5);
    expect(stateAt(a)).toBe('cooling');
    clock.pass(300);
    await settle();
    expect(stateAt(b)).toBe('cooling');
    expect(b.enter()).toBeUndefined();
    clock.pass(29_699);
    expect([stateAt(a), stateAt(b)]).toEqual(['cooling', 'cooling']);
    clock.pass(1);
    expect([stateAt(a), stateAt(b)]).toEqual(['probing', 'probing']);
    expect([a.changes, b.changes]).toEqual([['cooling'], []]);
  });

  it('counts failures in a row over processes', async () => {
    a.fail(3);
    await settle();
    expect(b.health.of(SITE).failures).toBe(3);
    b.fail(2);
    expect(stateAt(b)).toBe('cooling');
    await settle();
    expect(stateAt(a)).toBe('cooling');
  });

  it('forgets the failures of others after a success', async () => {
    a.fail(4);
    await settle();
    b.enter()?.succeeded(SUCCESS);
    await settle();
    expect(a.health.of(SITE).failures).toBe(0);
    a.fail(4);
    expect(stateAt(a)).toBe('ok');
  });

  it('lets a cool-down of one account hold for that account alone', async () => {
    a.fail(5, 'mine');
    await settle();
    expect([stateAt(b, 'mine'), stateAt(b, 'other'), stateAt(b)]).toEqual(['cooling', 'ok', 'ok']);
    expect(b.enter(FIRST, 'mine')).toBeUndefined();
    expect(b.enter(FIRST, 'other')).toBeDefined();
  });

  it('ends a cool-down everywhere when a probe is answered', async () => {
    a.fail(5);
    await settle();
    const probe = b.enter(LAST) as HealthTicket;
    expect(await probe.takeProbe()).toBe(true);
    probe.firstToken();
    await settle();
    expect([stateAt(a), stateAt(b)]).toEqual(['ok', 'ok']);
    a.fail(1);
    expect(stateAt(a)).toBe('cooling');
    expect(a.health.coolingSites()[0]?.leftMs).toBe(60_000);
  });

  it('prolongs a cool-down everywhere when a probe after it fails', async () => {
    a.fail(5);
    await settle();
    clock.pass(30_000);
    b.fail(1);
    await settle();
    expect([stateAt(a), stateAt(b)]).toEqual(['cooling', 'cooling']);
    expect(a.health.coolingSites()[0]?.leftMs).toBe(60_000);
  });

  it('pauses a rate-limited site everywhere', async () => {
    a.enter()?.failed({ counts: true, isRateLimit: true, retryAfterMs: 7_000 });
    clock.pass(1_000);
    await settle();
    expect(b.enter(LAST)).toBeUndefined();
    clock.pass(5_999);
    expect(b.enter(LAST)).toBeUndefined();
    clock.pass(1);
    expect(b.enter(LAST)).toBeDefined();
  });

  it('brings measurements of speed, a little later', async () => {
    for (let count = 0; count < 20; count++) {
      const ticket = a.enter();
      clock.pass(120);
      ticket?.firstToken();
      clock.pass(100);
      ticket?.succeeded({ outputTokens: 50, toolCalls: 'none' });
    }
    for (let round = 0; round < 8; round++) await settle();
    clock.pass(1_000);
    const { latency, throughput } = b.health.of(SITE);
    expect(latency?.p50).toBeCloseTo(a.health.of(SITE).latency?.p50 ?? 0, 5);
    expect(throughput?.p50).toBeGreaterThan(400);
    expect(b.health.statistics(SITE).uptime5m).toBe(100);
  });

  it('tells a new process what cools down, and no old failures', async () => {
    a.fail(5);
    await a.exchanger.exchange();
    clock.pass(10_000);
    const late = openProcess('late');
    await late.exchanger.exchange();
    expect(late.health.coolingSites()[0]?.leftMs).toBe(20_000);
    clock.pass(60_000);
    const later = openProcess('later');
    await later.exchanger.exchange();
    expect(stateAt(later)).toBe('ok');
  });

  it('goes on alone while the store is away, and tells what cools down afterwards', async () => {
    isCut = true;
    a.fail(5);
    await settle();
    expect([stateAt(a), stateAt(b)]).toEqual(['cooling', 'ok']);
    clock.pass(5_000);
    isCut = false;
    a.exchanger.announce();
    await settle();
    expect(b.health.coolingSites()[0]?.leftMs).toBe(25_000);
  });

  it('counts the gateways', async () => {
    await settle();
    expect([a.exchanger.gateways, b.exchanger.gateways]).toEqual([2, 2]);
    clock.pass(10_001);
    await a.exchanger.exchange();
    expect(a.exchanger.gateways).toBe(2);
    clock.pass(10_000);
    await a.exchanger.exchange();
    expect(a.exchanger.gateways).toBe(1);
  });

  it('counts gateways that a store has forgotten until they come back', async () => {
    await settle();
    for (let outage = 0; outage < 3; outage++) {
      clock.pass(10_001);
      await a.exchanger.exchange();
      expect(a.exchanger.gateways).toBe(2);
      await settle();
    }
    expect([a.exchanger.gateways, b.exchanger.gateways]).toEqual([2, 2]);
  });
});

describe('the right to probe', () => {
  beforeEach(async () => {
    a.fail(5);
    await settle();
  });

  it('is with one process at a time', async () => {
    const first = a.enter(LAST) as HealthTicket;
    const second = b.enter(LAST) as HealthTicket;
    expect([first.needsRight, await first.takeProbe(), await second.takeProbe()]).toEqual([
      true,
      true,
      false,
    ]);
    expect(b.enter(LAST)).toBeUndefined();
    clock.pass(250);
    expect(await b.enter(LAST)?.takeProbe()).toBe(false);
    first.abandoned();
    clock.pass(250);
    expect(await b.enter(LAST)?.takeProbe()).toBe(true);
  });

  it('is with none for a second after a failed probe', async () => {
    const probe = a.enter(LAST) as HealthTicket;
    await probe.takeProbe();
    probe.failed(FAILURE);
    expect(await b.enter(LAST)?.takeProbe()).toBe(false);
    clock.pass(1_000);
    expect(await b.enter(LAST)?.takeProbe()).toBe(true);
  });

  it('is with each while the store is away', async () => {
    isCut = true;
    expect(await a.enter(LAST)?.takeProbe()).toBe(true);
    expect(await b.enter(LAST)?.takeProbe()).toBe(true);
  });

  it('is not asked for while the site is in service', () => {
    expect(openProcess('c').enter()?.needsRight).toBe(false);
  });
});

describe('shared pins', () => {
  const A = { site: 'site-a', modelId: 'm' };
  const B = { site: 'site-b', modelId: 'm' };

  it('are found by other processes', async () => {
    a.pins.pin('one', A);
    expect(b.pins.find('one')).toBeUndefined();
    await b.pins.fetch('one');
    expect(b.pins.find('one')).toMatchObject(A);
  });

  it('are followed when they move', async () => {
    a.pins.pin('one', A);
    await b.pins.fetch('one');
    b.pins.pin('one', B);
    await settle();
    await a.pins.fetch('one');
    expect(a.pins.find('one')).toMatchObject(B);
  });

  it('are renewed by success, but not with every one', async () => {
    let writes = 0;
    const counting = { findPin: async () => undefined, setPin: async () => void writes++ };
    const shared = sharedPins(
      counting,
      (work) => work(),
      () => {},
    );
    const pins = new Pins({ clock, idleMs: () => 600_000, shared });
    for (let count = 0; count < 60; count++) {
      pins.pin('one', A);
      clock.pass(1_000);
    }
    expect(writes).toBe(2);
  });

  it('are those of this process alone while the store is away', async () => {
    isCut = true;
    a.pins.pin('one', A);
    await b.pins.fetch('one');
    expect([a.pins.find('one')?.site, b.pins.find('one')]).toEqual(['site-a', undefined]);
  });
});
