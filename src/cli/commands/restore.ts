import { resolve } from 'node:path';
import { DataDirectoryProblem, type Manifest, restoreDirectory } from '../../app/backup.ts';
import type { Flags } from '../../config/runtime.ts';
import type { LedgerView } from '../../control/ledger-view.ts';
import type { CommandResult } from '../terminal/output.ts';
import { runtimeOf } from './backup.ts';
import { verifyLedger } from './ledger.ts';

/** Result of `restore`: where it went, and `ledger verify` there. */
export interface RestoreView {
  readonly data_dir: string;
  readonly backup_finished_at: string;
  readonly files: number;
  readonly ledger: LedgerView;
}

/** Puts a backup into an empty data directory, then opens it and verifies the ledger; exit code 1 if it is wrong. */
export async function restoreInstallation(
  flags: Flags,
  directory: string,
): Promise<CommandResult<RestoreView>> {
  const { dataDir, database } = runtimeOf(flags);
  const manifest = await restoreDirectory({
    source: resolve(directory),
    dataDir,
    accept: ({ state }) => requireSameState(state, database !== undefined),
  });
  const verified = await verifyLedger(flags);
  return {
    result: {
      data_dir: dataDir,
      backup_finished_at: manifest.finishedAt,
      files: manifest.files.length,
      ledger: verified.result,
    },
    text: `The backup of ${manifest.finishedAt} is in ${dataDir} again. Its ledger:\n\n${verified.text}`,
    hasFailed: verified.hasFailed ?? false,
  };
}

function requireSameState(state: Manifest['state'], hasDatabase: boolean): void {
  if (state === 'postgresql' && !hasDatabase) {
    throw new DataDirectoryProblem(
      'this backup belongs to a PostgreSQL database: restore its dump with pg_restore first, then run this with ' +
        'DATABASE_URL set to it',
      false,
    );
  }
  if (state === 'embedded' && hasDatabase) {
    throw new DataDirectoryProblem(
      'this backup has its database inside, but DATABASE_URL names another one: unset it and run this again',
      false,
    );
  }
}
