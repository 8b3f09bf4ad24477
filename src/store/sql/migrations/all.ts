import { firstMigration } from './0001-first.ts';
import { gatewayProvidersMigration } from './0002-gateway-providers.ts';
import { keyLimits } from './0002-key-limits.ts';
import { refusedRequestsMigration } from './0003-refused-requests.ts';
import type { Migration } from './migration.ts';

/** Every migration, oldest first. New ones go to the end. */
export const MIGRATIONS: readonly Migration[] = [
  firstMigration,
  keyLimits,
  gatewayProvidersMigration,
  refusedRequestsMigration,
];
