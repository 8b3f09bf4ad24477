import { tenancyMigration } from './0001-tenancy.ts';
import { byokMigration } from './0002-byok.ts';
import { limitsMigration } from './0003-limits.ts';
import { generationsMigration } from './0004-generations.ts';
import { ledgerMigration } from './0005-ledger.ts';
import { filesMigration } from './0006-files.ts';
import { appsMigration } from './0007-apps.ts';
import { bookedInMigration } from './0008-booked-in.ts';
import { ledgerJournalsMigration } from './0009-ledger-journals.ts';
import { writtenOffCauseMigration } from './0010-written-off-cause.ts';
import { bookedByMigration } from './0011-booked-by.ts';
import { bookedAtMigration } from './0012-booked-at.ts';
import { prunedSumsMigration } from './0013-pruned-sums.ts';
import { fileMembersMigration } from './0014-file-members.ts';
import { importedUsageMigration } from './0015-imported-usage.ts';
import { guardrailsMigration } from './0016-guardrails.ts';
import { memberReservationsMigration } from './0017-member-reservations.ts';
import { mcpMemoryMigration } from './0018-mcp-memory.ts';
import { sessionsMigration } from './0019-sessions.ts';
import { pricesMigration } from './0020-prices.ts';
import { sharedMemoryMigration } from './0021-shared-memory.ts';
import { ledgerFunctionsMigration } from './0022-ledger-functions.ts';
import { ledgerBookingMigration } from './0023-ledger-booking.ts';
import { changesMigration } from './0024-changes.ts';
import { ledgerPlansMigration } from './0025-ledger-plans.ts';
import { endpointCallsMigration } from './0026-endpoint-calls.ts';
import { tallyLookupsMigration } from './0027-tally-lookups.ts';
import { writtenOffSumsMigration } from './0028-written-off-sums.ts';
import { fileKeysMigration } from './0029-file-keys.ts';
import { destinationChangesMigration, destinationsMigration } from './0030-destinations.ts';
import { followedGenerationsMigration, followingMigration } from './0031-following.ts';
import { classifiersMigration } from './0032-classifiers.ts';
import { classifierChangesMigration } from './0033-classifier-changes.ts';
import type { Migration } from './migration.ts';

/** Every migration, oldest first. New ones go to the end. */
export const MIGRATIONS: readonly Migration[] = [
  tenancyMigration,
  byokMigration,
  limitsMigration,
  generationsMigration,
  ledgerMigration,
  filesMigration,
  appsMigration,
  bookedInMigration,
  ledgerJournalsMigration,
  writtenOffCauseMigration,
  bookedByMigration,
  bookedAtMigration,
  prunedSumsMigration,
  fileMembersMigration,
  importedUsageMigration,
  guardrailsMigration,
  memberReservationsMigration,
  mcpMemoryMigration,
  sessionsMigration,
  pricesMigration,
  sharedMemoryMigration,
  ledgerFunctionsMigration,
  ledgerBookingMigration,
  changesMigration,
  ledgerPlansMigration,
  endpointCallsMigration,
  tallyLookupsMigration,
  writtenOffSumsMigration,
  fileKeysMigration,
  followingMigration,
  followedGenerationsMigration,
  destinationsMigration,
  destinationChangesMigration,
  classifiersMigration,
  classifierChangesMigration,
];
