import { sql } from 'kysely';
import { openPostgresLedger } from '../../../src/store/ledger/postgres/open-postgres-ledger.ts';
import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { SqlGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { ledgerContract, NOW } from '../contracts/ledger.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';

const server = await postgresForTests();

/** On a busy machine the limits of a gateway pass while the server begins a process for a connection. */
const PATIENT = { connectMs: 30_000, statementMs: 30_000 };

/** Bounds of slices: none, and as large as they may be. */
const MODES = {
  'without slices': { maxNanos: 0n, maxShare: 0 },
  'with slices': { maxNanos: 10n ** 12n, maxShare: 0.5, hotReservations: 1 },
};

if (server !== undefined) {
  for (const [mode, bounds] of Object.entries(MODES))
    ledgerContract(`PostgresLedger ${mode}`, async () => {
      const directory = temporaryDirectory();
      const postgres = await openPostgres(addressOf(await server.emptyDatabase()), {
        nowMs: 1,
        limits: PATIENT,
      });
      let nowMs = NOW;
      const warnings: string[] = [];
      const { ledger, close } = await openPostgresLedger({
        directory: directory.path,
        postgres,
        gatewayId: 'one',
        reservationMs: PATIENT.statementMs,
        generationMs: () => 60_000,
        durability: () => 'process',
        slices: () => bounds,
        clock: { now: () => nowMs, monotonic: () => performance.now() },
        databaseClock: () => sql`${String(nowMs)}::bigint`,
        warn: (message) => warnings.push(message),
      });
      return {
        ledger,
        generations: new SqlGenerationStore(postgres.database),
        warnings,
        setTime(ms) {
          nowMs = ms;
        },
        async close() {
          await close();
          await postgres.close();
          directory.remove();
        },
      };
    });
}
