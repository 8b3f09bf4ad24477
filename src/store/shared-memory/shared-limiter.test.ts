import { beforeEach, describe, expect, it } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import type { RateLimit } from '../../ports/shared/limiter.ts';
import { MemoryLimiter } from '../rate-limits/memory-limiter.ts';
import { SharedLimiter } from './shared-limiter.ts';

const LIMIT: RateLimit = {
  name: 'requests-per-minute',
  subject: 'k',
  window: 'minute',
  unit: 'requests',
  max: 60,
};
const TOKENS: RateLimit = { name: 'tokens-per-day', subject: 'k', window: 'day', unit: 'tokens', max: 100 };

/** A gate that is opened and closed by hand. */
class HandGate {
  isOpen = true;
  #callbacks: (() => void)[] = [];

  ask<T>(work: () => Promise<T>): Promise<T> {
    return this.isOpen ? work() : Promise.reject(new Error('away'));
  }

  onFound(callback: () => void): void {
    this.#callbacks.push(callback);
  }

  open(): void {
    this.isOpen = true;
    for (const callback of this.#callbacks) callback();
  }
}

let clock: HandClock;
let store: MemoryLimiter;
let gates: HandGate[];
let gateways: SharedLimiter[];

beforeEach(() => {
  clock = new HandClock();
  store = new MemoryLimiter(clock);
  gates = [new HandGate(), new HandGate(), new HandGate()];
  gateways = gates.map((gate) => new SharedLimiter({ store, gate, gateways: () => 3, clock }));
});

async function passing(limits: RateLimit[], times: number, at: readonly SharedLimiter[] = gateways) {
  let passed = 0;
  for (let count = 0; count < times; count++) {
    const verdict = await at[count % at.length]?.take(limits);
    if (verdict?.ok) passed += 1;
  }
  return passed;
}

const cut = () => {
  for (const gate of gates) gate.isOpen = false;
};

describe('SharedLimiter', () => {
  it('admits exactly the limit over all gateways while the store answers', async () => {
    expect(await passing([LIMIT], 180)).toBe(60);
  });

  it('admits a share at each gateway while it does not, and names the whole limit', async () => {
    cut();
    expect(await passing([LIMIT], 180)).toBe(60);
    expect(await gateways[0]?.take([LIMIT])).toMatchObject({ ok: false, limit: LIMIT });
    expect(gateways[0]?.decidedAlone).toBe(61);
  });

  it('admits at least one', async () => {
    cut();
    expect(await passing([{ ...LIMIT, max: 2 }], 30)).toBe(3);
  });

  it('gives no share again that was used up before the outage', async () => {
    const [first] = gateways;
    if (first === undefined) throw new Error('there are three');
    expect(await passing([LIMIT], 30, [first])).toBe(30);
    cut();
    expect(await passing([LIMIT], 30, [first])).toBe(0);
  });

  it('adds what was counted during the outage to the store', async () => {
    cut();
    expect(await passing([LIMIT], 30)).toBe(30);
    await gateways[0]?.add([{ ...TOKENS, amount: 70 }]);
    await gateways[1]?.add([{ ...TOKENS, amount: 70 }]);
    for (const gate of gates) gate.open();
    await expect.poll(async () => (await gateways[2]?.take([TOKENS]))?.ok).toBe(false);
    expect(await passing([LIMIT], 90)).toBe(30);
  });

  it('adds nothing to windows that began after the outage', async () => {
    cut();
    expect(await passing([LIMIT], 30)).toBe(30);
    clock.pass(60_000);
    for (const gate of gates) gate.open();
    expect(await passing([LIMIT], 90)).toBe(60);
  });

  it('counts tokens at their own gateway during an outage', async () => {
    cut();
    await gateways[0]?.add([{ ...TOKENS, amount: 40 }]);
    expect(await gateways[0]?.take([TOKENS])).toMatchObject({ ok: false, limit: TOKENS });
    expect((await gateways[1]?.take([TOKENS]))?.ok).toBe(true);
  });
});
