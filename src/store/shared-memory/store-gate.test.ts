import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StoreAway, StoreGate } from './store-gate.ts';

const LIMIT_MS = 20;

async function openGate() {
  const store = { works: true, probes: 0, lost: [] as unknown[], found: 0 };
  const answer = () => (store.works ? Promise.resolve('yes') : Promise.reject(new Error('no')));
  const gate = new StoreGate({
    limitMs: LIMIT_MS,
    isAnswer: (error) => error instanceof RangeError,
    probe: () => {
      store.probes += 1;
      return answer();
    },
    lost: (reason) => store.lost.push(reason),
    found: () => {
      store.found += 1;
    },
  });
  await gate.open(1000);
  return { store, gate, answer };
}

describe('StoreGate', () => {
  it('passes answers on', async () => {
    const { gate, answer, store } = await openGate();
    expect(await gate.ask(answer)).toBe('yes');
    expect([store.lost, store.found]).toEqual([[], 0]);
    gate.close();
  });

  it('gives a late answer up, and asks no more until a probe is answered', async () => {
    const { gate, answer, store } = await openGate();
    store.works = false;
    await expect(gate.ask(() => delay(10_000, 'late', { ref: false }))).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
    let asked = 0;
    await expect(
      gate.ask(async () => {
        asked += 1;
      }),
    ).rejects.toBeInstanceOf(StoreAway);
    expect(asked).toBe(0);
    await expect.poll(() => store.lost.length, { timeout: 20_000 }).toBe(1);
    let heard = 0;
    gate.onFound(() => {
      heard += 1;
    });
    store.works = true;
    await expect.poll(() => gate.isOpen, { timeout: 20_000 }).toBe(true);
    expect([store.found, heard, store.lost.length]).toEqual([1, 1, 1]);
    expect(await gate.ask(answer)).toBe('yes');
    gate.close();
  });

  it('reports no outage if only one answer fails', async () => {
    const { gate, store } = await openGate();
    await expect(gate.ask(() => Promise.reject(new Error('once')))).rejects.toThrow('once');
    await expect.poll(() => gate.isOpen).toBe(true);
    expect([store.lost, store.found]).toEqual([[], 0]);
    gate.close();
  });

  it('stays open after an error that the store answered about one entry', async () => {
    const { gate, answer, store } = await openGate();
    const { probes } = store;
    await expect(gate.ask(() => Promise.reject(new RangeError('of one')))).rejects.toThrow('of one');
    expect(gate.isOpen).toBe(true);
    expect(await gate.ask(answer)).toBe('yes');
    expect(store.probes).toBe(probes);
    gate.close();
  });

  it('takes an answer that came while this process was held up', async () => {
    const { gate } = await openGate();
    const answered = gate.ask(() => delay(1, 'in time'));
    const until = performance.now() + 3 * LIMIT_MS;
    while (performance.now() < until);
    expect(await answered).toBe('in time');
    gate.close();
  });
});
