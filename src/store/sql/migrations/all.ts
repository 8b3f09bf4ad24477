import { firstMigration } from './0001-first.ts';
import { keyLimitsMigration } from './0002-key-limits.ts';
import { gatewayProvidersMigration } from './0003-gateway-providers.ts';
import { refusedRequestsMigration } from './0004-refused-requests.ts';
import { membersMigration } from './0005-members.ts';
import type { Migration } from './migration.ts';

/** Every migration, oldest first. New ones go to the end. */
export const MIGRATIONS: readonly Migration[] = [
  firstMigration,
  keyLimitsMigration,
  gatewayProvidersMigration,
  refusedRequestsMigration,
  membersMigration,
];
