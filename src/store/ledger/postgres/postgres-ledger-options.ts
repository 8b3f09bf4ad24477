import type { Kysely } from 'kysely';
import type { Durability, Journal } from '../../../ports/money/journal.ts';
import type { Tables } from '../../sql/tables.ts';
import type { WriteOffs } from '../books/write-offs.ts';
import type { RecordWriter } from '../records/record-writer.ts';
import type { Booker } from './booking/booker.ts';
import type { LocalGenerations } from './booking/local-generations.ts';
import type { ClockWatch } from './clock-watch.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Reserver } from './reserving/reserver.ts';
import type { Slices } from './slices/slices.ts';
import type { DatabaseClock } from './tallies/database-clock.ts';

export interface PostgresLedgerOptions {
  readonly database: Kysely<Tables>;
  /** For long statements. */
  readonly background: Kysely<Tables>;
  /** Whether the last statement was answered. */
  isUp(): boolean;
  readonly gatewayId: () => string;
  /** Owner token of this run; undefined = ownership is not checked. */
  readonly owner: string | undefined;
  readonly databaseClock: DatabaseClock;
  readonly clockWatch: ClockWatch;
  /** Write-offs of this process, those at booking included. */
  readonly writeOffs: WriteOffs;
  readonly heartbeat: Heartbeat;
  readonly reserver: Reserver;
  readonly slices: Slices;
  readonly generations: LocalGenerations;
  readonly booker: Booker;
  readonly journal: Journal;
  readonly writer: RecordWriter;
  durability(): Durability;
  /** How long a settlement waits for a failing disk, milliseconds. */
  readonly patienceMs: number;
  /** Bytes of unfinished records that were dropped when the journal was opened. */
  readonly tornTailBytes: number;
  /** Generations settled by the reconciler. */
  reconciled(): number;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
