import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HealthReport, NewsExchange, RoutingMemory } from '../../../src/ports/shared/routing-memory.ts';

export interface OpenRoutingMemory {
  readonly memory: RoutingMemory;
  /** That of another gateway on the same store, or the same one if the store is in memory. */
  readonly other: RoutingMemory;
  /** Lets time pass, at least so much. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

const PIN = { site: 'acme\nlarge-v1', modelId: 'acme/large' };

const NO_NEWS = { health: [], movedPins: [] };

export const reportOf = (site: string, fields: Partial<HealthReport> = {}): HealthReport => ({
  site,
  account: null,
  hasSucceeded: false,
  failures: [],
  cooldown: null,
  isBack: false,
  pauseMs: 0,
  deferralMs: 0,
  measured: null,
  ...fields,
});

const newsOf = (...sites: string[]) => ({ health: sites.map((site) => reportOf(site)), movedPins: [] });

/** Every routing memory must pass this. */
export function routingMemoryContract(name: string, open: () => Promise<OpenRoutingMemory>): void {
  describe(name, () => {
    let opened: OpenRoutingMemory;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    it('finds the pin that another gateway has set', async () => {
      const { memory, other } = opened;
      expect(await memory.findPin('one')).toBeUndefined();
      await memory.setPin('one', PIN, 60_000);
      expect(await other.findPin('one')).toEqual(PIN);
      await other.setPin('one', { ...PIN, site: 'else' }, 60_000);
      expect(await memory.findPin('one')).toEqual({ ...PIN, site: 'else' });
      expect(await memory.findPin('two')).toBeUndefined();
    });

    it('sets many pins of one moment; the last of a conversation counts', async () => {
      const { memory, other } = opened;
      await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          memory.setPin(`k${at % 20}`, { ...PIN, site: `s${at}` }, 60_000),
        ),
      );
      expect(await other.findPin('k3')).toEqual({ ...PIN, site: 's23' });
    });

    it('ends a pin after its idle time, which setting it renews', async () => {
      const { memory } = opened;
      await memory.setPin('one', PIN, 400);
      await memory.setPin('two', PIN, 400);
      await memory.setPin('two', PIN, 600_000);
      await opened.pass(500);
      expect(await memory.findPin('one')).toBeUndefined();
      expect(await memory.findPin('two')).toEqual(PIN);
    });

    const exchange = (memory: RoutingMemory, gatewayId: string, given: Partial<NewsExchange> = {}) =>
      memory.exchange({ gatewayId, processId: gatewayId, after: null, news: NO_NEWS, ...given });

    it('brings the news of others once, in order, and never one’s own', async () => {
      const { memory, other } = opened;
      const a = await exchange(memory, 'a');
      const b = await exchange(other, 'b');
      expect([a.received, b.received]).toEqual([[], []]);
      const said = await exchange(memory, 'a', { after: a.position, news: newsOf('one', 'two') });
      await exchange(memory, 'a', { after: said.position, news: { health: [], movedPins: ['key'] } });
      const heard = await exchange(other, 'b', { after: b.position, news: newsOf('three') });
      expect(heard.received).toEqual([
        { ...newsOf('one', 'two'), ageMs: expect.any(Number) },
        { health: [], movedPins: ['key'], ageMs: expect.any(Number) },
      ]);
      expect((await exchange(other, 'b', { after: heard.position })).received).toEqual([]);
      const answered = await exchange(memory, 'a', { after: said.position });
      expect(answered.received).toEqual([{ ...newsOf('three'), ageMs: expect.any(Number) }]);
      expect((await exchange(memory, 'a', { after: answered.position })).received).toEqual([]);
    });

    it('brings everything of a report', async () => {
      const { memory, other } = opened;
      const report = reportOf('one', {
        account: 'acc',
        hasSucceeded: true,
        failures: [
          { account: null, count: 2 },
          { account: 'acc', count: 1 },
        ],
        cooldown: { leftMs: 30_000, round: 2, failures: 5 },
        pauseMs: 7_000,
        measured: {
          calls: 3,
          failures: 1,
          failuresOfOne: 2,
          toolAnswers: 1,
          badToolAnswers: 0,
          latency: [[12, 3]],
          throughput: [],
        },
      });
      await exchange(memory, 'a', { news: { health: [report], movedPins: [] } });
      expect((await exchange(other, 'b')).received[0]?.health).toEqual([report]);
    });

    it('says how old news is, by its own clock', async () => {
      const { memory, other } = opened;
      await exchange(memory, 'a', { news: newsOf('one') });
      await opened.pass(300);
      const [heard] = (await exchange(other, 'b')).received;
      expect(heard?.ageMs).toBeGreaterThanOrEqual(299);
      expect(heard?.ageMs).toBeLessThan(60_000);
    });

    it('gives a new process the news from before its start', async () => {
      const { memory, other } = opened;
      await exchange(memory, 'a', { news: newsOf('one') });
      await exchange(memory, 'a', { news: newsOf('two') });
      const { received } = await exchange(other, 'new');
      expect(received.map(({ health }) => health[0]?.site)).toEqual(['one', 'two']);
    });

    it('loses nothing that several give at the same time', async () => {
      const { memory, other } = opened;
      let { position: after } = await exchange(memory, 'reader');
      await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          exchange(at % 2 === 0 ? memory : other, `g${at}`, { news: newsOf(`s${at}`) }),
        ),
      );
      const sites: string[] = [];
      for (let round = 0; round < 3; round++) {
        const { received, position } = await exchange(memory, 'reader', { after });
        sites.push(...received.flatMap(({ health }) => health.map(({ site }) => site)));
        after = position;
      }
      expect(sites.sort()).toEqual(Array.from({ length: 40 }, (_, at) => `s${at}`).sort());
    });

    it('counts gateways, not processes', async () => {
      const { memory, other } = opened;
      expect((await exchange(memory, 'a')).gateways).toBe(1);
      await exchange(memory, 'a', { processId: 'a/2' });
      expect((await exchange(other, 'b')).gateways).toBe(2);
      expect((await exchange(memory, 'a')).gateways).toBe(2);
    });

    it('gives the right to probe a place to one process at a time', async () => {
      const { memory, other } = opened;
      const taken = await Promise.all([
        memory.takeProbe('one', 'a', 60_000),
        other.takeProbe('one', 'b', 60_000),
        memory.takeProbe('two', 'b', 60_000),
      ]);
      expect(taken.slice(0, 2).filter(Boolean)).toHaveLength(1);
      expect(taken[2]).toBe(true);
      const [holder, loser] = taken[0] ? ['a', 'b'] : ['b', 'a'];
      await other.endProbe('one', loser as string, 0);
      expect(await memory.takeProbe('one', 'c', 60_000)).toBe(false);
      await other.endProbe('one', holder as string, 0);
      expect(await memory.takeProbe('one', 'c', 60_000)).toBe(true);
    });

    it('lets nobody probe for a while after a failed probe, nor forever after a lost one', async () => {
      const { memory, other } = opened;
      await memory.takeProbe('failed', 'a', 60_000);
      await memory.endProbe('failed', 'a', 400);
      await memory.takeProbe('lost', 'a', 400);
      expect(await other.takeProbe('failed', 'b', 60_000)).toBe(false);
      expect(await other.takeProbe('lost', 'b', 60_000)).toBe(false);
      await opened.pass(500);
      expect(await other.takeProbe('failed', 'b', 60_000)).toBe(true);
      expect(await other.takeProbe('lost', 'b', 60_000)).toBe(true);
    });
  });
}
