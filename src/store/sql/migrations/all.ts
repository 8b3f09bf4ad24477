import { firstMigration } from './0001-first.ts';
import type { Migration } from './migration.ts';

/** Every migration, oldest first. New ones go to the end. */
export const MIGRATIONS: readonly Migration[] = [firstMigration];
