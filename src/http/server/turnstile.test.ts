import { describe, expect, it } from 'vitest';
import { TURNSTILE_LIMITS, type TurnClock, Turnstile } from './turnstile.ts';

/** Three requests of a millisecond begin in a turn, one after the other. */
const LIMITS = { ...TURNSTILE_LIMITS, turnMs: 3, batchRequests: 1 };
const ANY_WAIT = { ...LIMITS, crowdedWaitMs: Number.POSITIVE_INFINITY };

/** An event loop in which time passes only when a request is worked on. */
class Loop implements TurnClock {
  nowMs = 0;
  #atEnd: (() => void)[] = [];
  #after: (() => void)[] = [];

  now(): number {
    return this.nowMs;
  }

  atEndOfTurn(run: () => void): void {
    this.#atEnd.push(run);
  }

  afterThis(run: () => void): void {
    this.#after.push(run);
  }

  /** Ends a turn: whatever waits for that runs, and what it begins. */
  async endTurn(): Promise<void> {
    await this.afterAll();
    for (const run of this.#atEnd.splice(0)) run();
    await this.afterAll();
  }

  /** Whatever was to come after this. */
  async afterAll(): Promise<void> {
    await settled();
    for (let next = this.#after.shift(); next !== undefined; next = this.#after.shift()) {
      next();
      await settled();
    }
  }
}

const settled = async () => {
  for (let hop = 0; hop < 5; hop++) await Promise.resolve();
};

/** Requests that take a millisecond each to begin. */
class Callers {
  readonly loop = new Loop();
  readonly turnstile: Turnstile;

  constructor(limits = LIMITS) {
    this.turnstile = new Turnstile(limits, this.loop);
  }

  begun = 0;
  refused = 0;
  readonly waitedMs: number[] = [];

  ask(): void {
    const askedMs = this.loop.nowMs;
    const told = (mayBegin: boolean): void => {
      if (!mayBegin) {
        this.refused++;
        return;
      }
      this.waitedMs.push(this.loop.nowMs - askedMs);
      this.begun++;
      this.loop.nowMs += 1;
    };
    const entry = this.turnstile.enter();
    if (entry === false) told(entry);
    else void entry.then(told);
  }

  /** So many ask in every turn of ten milliseconds or so, of which requests that have begun take the greater part. */
  async turns(count: number, asking: (turn: number) => number, turnMs = 10, askMs = 0): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      const endMs = this.loop.nowMs + turnMs;
      for (let index = asking(turn); index > 0; index--) {
        this.ask();
        this.loop.nowMs += askMs;
      }
      await this.loop.endTurn();
      this.loop.nowMs = Math.max(endMs, this.loop.nowMs);
    }
  }
}

describe('a turnstile', () => {
  it('begins requests at once while there is capacity', async () => {
    const callers = new Callers();
    await callers.turns(100, () => 2);
    expect(callers).toMatchObject({ begun: 200, refused: 0 });
    expect(Math.max(...callers.waitedMs)).toBeLessThan(5);
  });

  it('begins the first of many requests at the end of the turn in which they arrive', async () => {
    const callers = new Callers({ ...LIMITS, batchRequests: 4 });
    for (let index = 0; index < 10; index++) callers.ask();
    expect(callers).toMatchObject({ begun: 0 });
    await callers.loop.afterAll();
    // Four take longer than there is time for beginnings in a turn.
    expect(callers).toMatchObject({ begun: 4 });
    await callers.loop.endTurn();
    expect(callers).toMatchObject({ begun: 8 });
    await callers.loop.endTurn();
    expect(callers).toMatchObject({ begun: 10, refused: 0 });
  });

  it('queues a burst and refuses no request', async () => {
    const callers = new Callers();
    await callers.turns(400, (turn) => (turn === 0 ? 300 : 0));
    expect(callers).toMatchObject({ begun: 300, refused: 0 });
    expect(callers.turnstile.waiting).toBe(0);
  });

  it('begins requests in the order of arrival', async () => {
    const { loop, turnstile } = new Callers();
    const order: number[] = [];
    for (let index = 0; index < 20; index++) {
      const entry = turnstile.enter();
      loop.nowMs += 1;
      if (entry !== false) void entry.then(() => order.push(index));
    }
    while (turnstile.waiting > 0) await loop.endTurn();
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  it('refuses no request while callers wait for a reply before the next one', async () => {
    const callers = new Callers();
    let known = 0;
    await callers.turns(400, (turn) => {
      const asking = turn === 0 ? 150 : callers.begun - known;
      known = callers.begun;
      return asking;
    });
    expect(callers.refused).toBe(0);
  });

  it('under overload refuses requests that would wait long, and serves the others soon', async () => {
    const callers = new Callers();
    await callers.turns(150, () => 20);
    const before = { begun: callers.begun, refused: callers.refused };
    callers.waitedMs.length = 0;
    await callers.turns(400, () => 20);
    const begun = callers.begun - before.begun;
    expect(begun).toBeGreaterThan(0.9 * 400 * LIMITS.turnMs);
    expect(begun + callers.refused - before.refused).toBeGreaterThan(0.98 * 400 * 20);
    expect(Math.max(...callers.waitedMs)).toBeLessThanOrEqual(LIMITS.lateMs);
  });

  it('refuses no request of a burst that is accepted over many turns, on a slow machine', async () => {
    const callers = new Callers(ANY_WAIT);
    await callers.turns(800, (turn) => (turn < 20 ? 32 : 0), 40);
    expect(callers).toMatchObject({ begun: 20 * 32, refused: 0 });
  });

  it('refuses requests if all wait long, although no more arrive than can begin', async () => {
    const closed = (callers: Callers) => {
      let known = 0;
      return callers.turns(400, (turn) => {
        const asking = turn === 0 ? 1000 : callers.begun - known;
        known = callers.begun;
        return asking;
      });
    };
    const callers = new Callers();
    await closed(callers);
    expect(callers.refused).toBeGreaterThan(0);
    const patient = new Callers(ANY_WAIT);
    await closed(patient);
    expect(patient.refused).toBe(0);
  });

  it('goes on serving while refused callers retry at once', async () => {
    const callers = new Callers();
    await callers.turns(150, () => 100);
    const { begun } = callers;
    const sinceMs = callers.loop.nowMs;
    await callers.turns(100, () => 128, 10, 0.1);
    const elapsed = callers.loop.nowMs - sinceMs;
    expect(callers.begun - begun).toBeGreaterThan(0.05 * elapsed);
  });

  it('ends the overload when no requests come', async () => {
    const callers = new Callers();
    await callers.turns(100, () => 20);
    expect(callers.refused).toBeGreaterThan(0);
    callers.refused = 0;
    while (callers.turnstile.waiting > 0) await callers.turns(1, () => 0);
    callers.loop.nowMs += 5000;
    await callers.turns(60, (turn) => (turn === 0 ? 100 : 0));
    expect(callers).toMatchObject({ refused: 0 });
    expect(callers.turnstile.waiting).toBe(0);
  });

  it('ends the overload when fewer requests come', async () => {
    const callers = new Callers();
    await callers.turns(100, () => 20);
    await callers.turns(60, () => 1);
    callers.refused = 0;
    await callers.turns(100, () => 2);
    expect(callers.refused).toBe(0);
    expect(callers.turnstile.waiting).toBe(0);
  });
});
