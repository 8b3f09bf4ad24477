import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BenchLedger,
  credit,
  generation,
  keyLimit,
  LedgerBench,
  use,
} from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

/** Time passes by steps of the tests. */
const NO_TIMERS = { heartbeatMs: 3_600_000 };

const NOW = Date.parse('2025-06-15T12:00:00Z');

if (server !== undefined) {
  describe('reservations of a gateway that died', () => {
    let bench: LedgerBench;
    let alive: BenchLedger;
    let dying: BenchLedger;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
      bench.timeMs = NOW;
      alive = await bench.ledger(bench.directory(), NO_TIMERS);
      dying = await bench.ledger(bench.directory(), NO_TIMERS);
      await dying.ledger.reserve(generation('g1', keyLimit(100n)), () => credit(60n));
    });

    afterEach(() => bench.close());

    /** Lets time pass with the heartbeats of some gateways. Resolves with the number of reservations released. */
    const pass = async (seconds: number, beating: readonly BenchLedger[]) => {
      let released = 0;
      for (let passed = 0; passed < seconds; passed += 5) {
        bench.timeMs += 5_000;
        for (const each of beating) await each.ledger.beat();
        released += await alive.ledger.sweep();
      }
      return released;
    };

    const reservedNanos = async () => (await alive.ledger.statementOf('account-1')).reservedNanos;

    it('are released within 60 s, and what it settles later is charged within what is left', async () => {
      expect(await pass(35, [alive])).toBe(0);
      expect(await reservedNanos()).toBe(60n);
      expect(await pass(20, [alive])).toBe(1);
      expect(await reservedNanos()).toBe(0n);
      await alive.ledger.reserve(generation('g2', keyLimit(100n)), () => credit(70n));
      await dying.ledger.settle('g1', use(50n));
      await dying.ledger.statementOf('account-1');
      expect(await bench.rows.find('account-1', 'g1')).toMatchObject({
        charge: credit(30n),
        writtenOffNanos: 20n,
        writtenOffCause: 'released',
      });
      expect(await alive.ledger.statementOf('account-1')).toMatchObject({ settledNanos: 30n, fault: null });
    });

    it('are kept while it lives, however long they last', async () => {
      expect(await pass(300, [alive, dying])).toBe(0);
      expect(await reservedNanos()).toBe(60n);
    });

    it('are kept after an outage of the database, and after a jump of its clock', async () => {
      await pass(30, [alive, dying]);
      bench.timeMs += 300_000;
      await alive.ledger.beat();
      expect(await alive.ledger.sweep()).toBe(0);
      expect(await pass(60, [alive, dying])).toBe(0);
      expect(await reservedNanos()).toBe(60n);
    });

    it('are not released when they are younger than its last sign of life', async () => {
      await pass(60, [alive]);
      // It is back, and has not been seen yet.
      await dying.ledger.reserve(generation('g2', keyLimit(100n)), () => credit(30n));
      expect(await alive.ledger.sweep()).toBe(0);
      expect(await reservedNanos()).toBe(30n);
    });

    it('of an older version, which has no heartbeat, are kept until they expire', async () => {
      await sql`update ledger_reservations set has_heartbeat = false`.execute(bench.postgres.database);
      expect(await pass(120, [alive])).toBe(0);
      bench.timeMs += 600_000;
      expect(await alive.ledger.sweep()).toBe(1);
    });

    it('are released all, however many there are', async () => {
      for (let index = 0; index < 8; index++) {
        await sql`
          insert into ledger_reservations (generation_id, gateway_id, key_hash, workspace_id, account_id, credit_nanos,
            byok_nanos, reserved_at_ms, expires_at_ms, has_heartbeat)
          select ${`copy-${index}-`} || n, gateway_id, key_hash, workspace_id, account_id, 0, 0, reserved_at_ms,
            expires_at_ms, true
          from ledger_reservations, generate_series(1, 100) n where generation_id = 'g1'`.execute(
          bench.postgres.database,
        );
      }
      expect(await pass(55, [alive])).toBe(801);
    });
  });
}
