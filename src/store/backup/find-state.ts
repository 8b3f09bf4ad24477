import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { readGatewayId } from '../directory/gateway-identity.ts';
import { DATABASE } from './backup-directory.ts';
import type { BackedUpState } from './manifest.ts';

/**
 * Where the state of a data directory is, by its files: only a gateway on PostgreSQL writes an id, only the embedded
 * state has a database file. `configured`, the state by this process's own environment, decides if there is neither.
 * With both, the directory has served both ways, or a command has run in it without DATABASE_URL: throws a
 * DataDirectoryProblem unless PostgreSQL is configured, because an embedded backup could lack the newer state.
 */
export function findState(dataDir: string, configured: BackedUpState): BackedUpState {
  const hasServedPostgres = readGatewayId(dataDir) !== undefined;
  const hasDatabaseFile = existsSync(join(dataDir, DATABASE));
  if (hasServedPostgres !== hasDatabaseFile) return hasServedPostgres ? 'postgresql' : 'embedded';
  if (!hasServedPostgres || configured === 'postgresql') return configured;
  throw new DataDirectoryProblem(
    `a gateway on PostgreSQL has used ${dataDir}, which also has ${DATABASE}: if the gateway uses PostgreSQL, set ` +
      'DATABASE_URL to its database and run the backup again, then pg_dump; if not, start the gateway and run the ' +
      'backup while it runs',
    false,
  );
}
