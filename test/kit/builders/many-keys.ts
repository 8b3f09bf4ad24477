import { join } from 'node:path';
import Database from 'libsql';

/** Whose keys, and how many. */
interface ManyKeys {
  readonly count: number;
  readonly accountId: string;
  readonly workspaceId: string;
}

/**
 * Adds keys named `number-0`, `number-1` and so on to a data directory that no gateway has open, in one statement: by
 * themselves a hundred thousand take minutes. Nobody has their secrets.
 */
export function insertKeys(dataDir: string, { count, accountId, workspaceId }: ManyKeys): void {
  const database = new Database(join(dataDir, 'signalbox.sqlite'));
  database
    .prepare(
      `INSERT INTO keys (hash, account_id, workspace_id, name, label, is_management, disabled, created_at_ms,
        include_byok_in_limit)
      WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < ? - 1)
      SELECT lower(hex(randomblob(32))), ?, ?, 'number-' || number, 'sk-...' || number, 0, 0, ? + number, 0
      FROM numbers`,
    )
    .run([count, accountId, workspaceId, Date.now() - DAY_MS]);
  database.close();
}

const DAY_MS = 86_400_000;
