import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Turn, Turnstile } from './turnstile.ts';

const TURNS = 24;

describe('Turnstile', () => {
  let isSaturated: boolean;
  let turnstile: Turnstile;

  beforeEach(() => {
    vi.useFakeTimers();
    isSaturated = true;
    turnstile = new Turnstile({ monotonic: () => performance.now(), isSaturated: () => isSaturated });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Takes all the turns that there are at once. */
  function takeAll(): Turn[] {
    return Array.from({ length: TURNS }, () => turnAtOnce());
  }

  function turnAtOnce(): Turn {
    const turn = turnstile.enter();
    if (typeof turn !== 'function') throw new Error('there was no turn at once');
    return turn;
  }

  /** What becomes of somebody who waits. */
  function waiting() {
    const fate: { is: 'waits' | 'in' | 'refused'; giveBack: Turn } = { is: 'waits', giveBack: () => {} };
    void Promise.resolve(turnstile.enter()).then((turn) => {
      fate.is = turn === undefined ? 'refused' : 'in';
      fate.giveBack = turn ?? fate.giveBack;
    });
    return fate;
  }

  it('lets everybody in while the process has time', () => {
    isSaturated = false;
    for (let count = 0; count < 1000; count++) turnAtOnce();
  });

  it('lets those who come all at once wait, the first first', async () => {
    const [turn, next] = takeAll();
    const [first, second, third] = [waiting(), waiting(), waiting()];
    await vi.advanceTimersByTimeAsync(100);
    expect([first.is, second.is, third.is]).toEqual(['waits', 'waits', 'waits']);
    turn?.();
    turn?.();
    await vi.advanceTimersByTimeAsync(0);
    expect([first.is, second.is, third.is]).toEqual(['in', 'waits', 'waits']);
    next?.();
    await vi.advanceTimersByTimeAsync(0);
    expect([second.is, third.is]).toEqual(['in', 'waits']);
  });

  it('lets those in who wait once the process has time', async () => {
    takeAll();
    const all = [waiting(), waiting()];
    isSaturated = false;
    await vi.advanceTimersByTimeAsync(10);
    expect(all.map(({ is }) => is)).toEqual(['in', 'in']);
  });

  it('refuses those who waited as long as a burst takes', async () => {
    takeAll();
    const late = waiting();
    await vi.advanceTimersByTimeAsync(1999);
    expect(late.is).toBe('waits');
    await vi.advanceTimersByTimeAsync(10);
    expect(late.is).toBe('refused');
  });

  it('refuses at once, or after a moment, where the queue does not become empty', async () => {
    let turn = takeAll()[0];
    const queue = [waiting()];
    for (let count = 0; count < 205; count++) {
      queue.push(waiting());
      turn?.();
      await vi.advanceTimersByTimeAsync(10);
      turn = queue.find(({ is }) => is === 'in')?.giveBack;
      queue.splice(
        0,
        queue.findIndex(({ is }) => is === 'waits'),
      );
    }
    const few = Array.from({ length: 63 }, waiting);
    const beyond = Array.from({ length: 5 }, waiting);
    await vi.advanceTimersByTimeAsync(0);
    expect(beyond.map(({ is }) => is)).toContain('refused');
    expect(few[0]?.is).toBe('waits');
    await vi.advanceTimersByTimeAsync(120);
    expect(few.every(({ is }) => is !== 'waits')).toBe(true);
  });

  it('refuses at once those beyond what a burst has', async () => {
    takeAll();
    const burst = Array.from({ length: 1000 }, waiting);
    const beyond = waiting();
    await vi.advanceTimersByTimeAsync(0);
    expect(beyond.is).toBe('refused');
    expect(burst.every(({ is }) => is === 'waits')).toBe(true);
  });

  it('is patient again after it was empty', async () => {
    const turns = takeAll();
    waiting();
    await vi.advanceTimersByTimeAsync(2500);
    for (const giveBack of turns) giveBack();
    takeAll();
    const patient = waiting();
    await vi.advanceTimersByTimeAsync(300);
    expect(patient.is).toBe('waits');
  });

  it('leaves no timer behind', async () => {
    const [turn] = takeAll();
    waiting();
    turn?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
