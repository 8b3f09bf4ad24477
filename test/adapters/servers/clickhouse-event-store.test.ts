import { describe, expect, it } from 'vitest';
import { parseClickhouseAddress } from '../../../src/kit/net/clickhouse-address.ts';
import { openServiceClient } from '../../../src/net/egress/service-client.ts';
import type { EventQuery, GenerationEvent } from '../../../src/ports/events/events.ts';
import {
  ClickhouseEventStore,
  type ClickhouseEventStoreOptions,
} from '../../../src/store/events/clickhouse/event-store.ts';
import { EventsUnavailable } from '../../../src/store/events/event-errors.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { freePort } from '../../kit/fakes/free-port.ts';
import { clickhouseForTests } from '../../kit/servers/clickhouse-server.ts';
import { eventStoreContract } from '../contracts/event-store.ts';
import { eventTagsContract } from '../contracts/event-tags.ts';

/** A short history: queries over much of it merge it, which old servers do on one core. */
const DAYS = 72;
const DAY_MS = 86_400_000;

const server = await clickhouseForTests();

function openEvents(url: string, options?: ClickhouseEventStoreOptions): ClickhouseEventStore {
  const reading = parseClickhouseAddress(url);
  if (!reading.ok) throw new Error(reading.problem);
  return new ClickhouseEventStore(openServiceClient(reading.address.origin), reading.address, options);
}

const wholeDays: EventQuery = {
  accountId: null,
  metrics: ['request_count', 'tokens_total'],
  dimensions: [],
  granularity: null,
  startMs: HISTORY_START_MS,
  endMs: HISTORY_START_MS + 4 * DAY_MS,
  filters: [],
  order: null,
  limit: 10,
  groupLimit: null,
};

const tokensOf = (events: readonly GenerationEvent[]) =>
  BigInt(
    events.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0),
  );

if (server !== undefined) {
  eventStoreContract(
    'ClickhouseEventStore',
    async () => {
      const events = openEvents(server.newDatabase());
      return { events, close: () => events.close() };
    },
    DAYS,
  );

  eventTagsContract('ClickhouseEventStore', async () => {
    const events = openEvents(server.newDatabase());
    return { events, close: () => events.close() };
  });

  describe('ClickhouseEventStore', () => {
    const history = [...eventHistory(400, 4)];

    it('counts an event once that was inserted twice and is not merged', async () => {
      const url = server.newDatabase();
      const events = openEvents(url);
      await events.append(history);
      const table = `${new URL(url).pathname.slice(1)}.generation_events`;
      await server.ask(`INSERT INTO ${table} SELECT * FROM ${table} LIMIT 150`);
      expect(await server.ask(`SELECT count() FROM ${table}`)).toBe('550');
      for (const asked of [wholeDays, { ...wholeDays, startMs: wholeDays.startMs + 1 }]) {
        const expected = history.filter(({ createdAtMs }) => createdAtMs >= asked.startMs);
        expect((await events.query(asked)).rows[0]?.metrics).toEqual([
          BigInt(expected.length),
          tokensOf(expected),
        ]);
      }
      expect((await events.sizes()).events).toBe(400);
      await events.close();
    });

    it('loses nothing when two gateways prune and append at the same time', async () => {
      const url = server.newDatabase();
      const [one, other] = [openEvents(url), openEvents(url)];
      const second = HISTORY_START_MS + 2 * DAY_MS;
      await Promise.all([one.append(history.slice(0, 300)), other.append(history.slice(100))]);
      await Promise.all([one.prune(second), other.prune(second), one.append(history), other.prune(second)]);
      for (const store of [one, other]) {
        expect((await store.query(wholeDays)).rows[0]?.metrics).toEqual([400n, tokensOf(history)]);
      }
      const kept = history.filter(({ createdAtMs }) => createdAtMs >= second);
      expect((await other.sizes()).events).toBe(kept.length);
      await Promise.all([one.close(), other.close()]);
    });

    it('makes its tables anew after they were dropped, under another id', async () => {
      const url = server.newDatabase();
      const found: string[] = [];
      const options = { onTablesFound: (id: string) => found.push(id) };
      const [events, beside] = [openEvents(url, options), openEvents(url, options)];
      await events.append(history.slice(0, 10));
      await beside.append(history.slice(10, 20));
      expect(new Set(found).size).toBe(1);
      await server.ask(`DROP DATABASE ${new URL(url).pathname.slice(1)}`);
      await expect(events.append(history)).rejects.toThrow(EventsUnavailable);
      expect(await events.append(history)).toEqual({ added: 400, known: 0, tooOld: 0 });
      expect(new Set(found).size).toBe(2);
      await Promise.all([events.close(), beside.close()]);
    });

    it('adds columns to tables of earlier releases, however many gateways start', async () => {
      const url = server.newDatabase();
      const earlier = openEvents(url);
      await earlier.append(history.slice(0, 10));
      await earlier.close();
      const table = `${new URL(url).pathname.slice(1)}.generation_events`;
      await server.ask(`ALTER TABLE ${table} DROP COLUMN trace_id`);
      const gateways = [openEvents(url), openEvents(url), openEvents(url)];
      const sizes = await Promise.all(gateways.map((events) => events.sizes()));
      expect(sizes.map(({ events }) => events)).toEqual([10, 10, 10]);
      expect((await gateways[0]?.append(history))?.added).toBe(390);
      const traced = history.slice(10).filter(({ log }) => log?.traceId);
      expect(await server.ask(`SELECT count() FROM ${table} WHERE trace_id IS NOT NULL`)).toBe(
        String(traced.length),
      );
      await Promise.all(gateways.map((events) => events.close()));
    });

    it('does not use tables of a later release', async () => {
      const url = server.newDatabase();
      const first = openEvents(url);
      await first.append(history.slice(0, 1));
      await server.ask(`INSERT INTO ${new URL(url).pathname.slice(1)}.event_stores VALUES (1, 'later', 99)`);
      const warnings: unknown[] = [];
      const events = openEvents(url, { warn: (...line) => warnings.push(line) });
      await expect(events.sizes()).rejects.toThrow(EventsUnavailable);
      expect(events.isAvailable).toBe(false);
      await Promise.all([first.close(), events.close()]);
    });

    it('logs a server that is away once, and its return, without the password', async () => {
      const port = await freePort();
      const warnings: unknown[] = [];
      const events = openEvents(`http://someone:hidden-4711@127.0.0.1:${port}/usage`, {
        warn: (...line) => warnings.push(line),
      });
      for (let round = 0; round < 3; round++) {
        await expect(events.append(history.slice(0, 1))).rejects.toThrow(EventsUnavailable);
        await expect(events.query(wholeDays)).rejects.toThrow('analytics do not answer');
      }
      expect(events.isAvailable).toBe(false);
      expect(warnings).toEqual([
        [
          expect.stringContaining('ClickHouse does not answer'),
          { errno: 'ECONNREFUSED', clickhouse: `http://127.0.0.1:${port}/usage` },
        ],
      ]);
      await events.close();
    });

    it('says that a password is refused, without it', async () => {
      const warnings: unknown[] = [];
      const url = server.newDatabase().replace(/:[^:@]+@/, ':wrong-hidden-4711@');
      const events = openEvents(url, { warn: (...line) => warnings.push(line) });
      await expect(events.query(wholeDays)).rejects.toThrow(EventsUnavailable);
      expect(JSON.stringify(warnings)).toMatch(/CLICKHOUSE_(192|193|194|516)/);
      expect(JSON.stringify(warnings)).not.toContain('hidden');
      await events.close();
    });

    it('does not wait long for a server that hangs, and answers when it goes on', async () => {
      const [events, fresh] = [openEvents(server.newDatabase()), openEvents(server.newDatabase())];
      await events.append(history);
      await server.pause();
      try {
        const beganAt = performance.now();
        const failed = await Promise.allSettled([events.query(wholeDays), fresh.query(wholeDays)]);
        expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
        expect(performance.now() - beganAt).toBeLessThan(10_000);
      } finally {
        server.resume();
      }
      await expect.poll(() => events.isAvailable).toBe(true);
      expect((await events.query(wholeDays)).rows[0]?.metrics[0]).toBe(400n);
      await Promise.all([events.close(), fresh.close()]);
    });

    it('finds a server that was killed again by itself', async () => {
      const events = openEvents(server.newDatabase());
      await events.append(history);
      await server.kill();
      await expect(events.query(wholeDays)).rejects.toThrow(EventsUnavailable);
      expect(events.isAvailable).toBe(false);
      await server.start();
      await expect.poll(() => events.isAvailable).toBe(true);
      expect((await events.query(wholeDays)).rows[0]?.metrics[0]).toBe(400n);
      await events.close();
    });
  });
}
