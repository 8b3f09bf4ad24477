import { resolve } from 'node:path';
import { backUp, type FinishedBackup } from '../../app/backup.ts';
import { loadConfiguration } from '../../config/load.ts';
import type { Flags } from '../../config/runtime.ts';
import { type StatementView, statementView } from '../../control/ledger-view.ts';
import { countText } from '../../kit/text/count-text.ts';
import { bytesText } from '../../kit/text/quantities.ts';
import { loadOptions } from '../../settings/load-options.ts';
import type { CommandResult } from '../terminal/output.ts';

export interface BackupView {
  readonly directory: string;
  readonly state: string;
  readonly began_at: string;
  readonly finished_at: string;
  readonly files: number;
  readonly bytes: number;
  readonly has_encryption_key: boolean;
  readonly open_reservations: number;
  /** Statements by account id; empty if the books are in PostgreSQL. */
  readonly accounts: readonly StatementView[];
}

export interface BackupFlags {
  readonly withoutContent: boolean;
  readonly withoutEncryptionKey: boolean;
}

/** Copies the data directory of a gateway, running or not. Needs no valid configuration file and no secrets. */
export async function backUpInstallation(
  flags: Flags,
  directory: string,
  { withoutContent, withoutEncryptionKey }: BackupFlags,
): Promise<CommandResult<BackupView>> {
  const { dataDir, database } = runtimeOf(flags);
  const target = resolve(directory);
  const finished = await backUp({
    dataDir,
    target,
    configured: database === undefined ? 'embedded' : 'postgresql',
    withContent: !withoutContent,
    withEncryptionKey: !withoutEncryptionKey,
  });
  const result = backupView(target, finished);
  const hasFailed = result.accounts.some(({ fault }) => fault !== null);
  return { result, text: textOf(result, dataDir, hasFailed, database !== undefined), hasFailed };
}

/** Settings from flags and environment; the file may have problems that do not matter here. */
export function runtimeOf(flags: Flags) {
  const loading = loadConfiguration(loadOptions(flags));
  return loading.ok ? loading.loaded.runtime : loading.runtime;
}

function backupView(
  directory: string,
  { manifest, accounts, accountNames, openReservations }: FinishedBackup,
): BackupView {
  return {
    directory,
    state: manifest.state,
    began_at: manifest.beganAt,
    finished_at: manifest.finishedAt,
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    has_encryption_key: manifest.files.some(({ path }) => path === 'encryption-key'),
    open_reservations: openReservations,
    accounts: accounts.map((statement) =>
      statementView(statement, accountNames.get(statement.accountId) ?? statement.accountId),
    ),
  };
}

function textOf(view: BackupView, dataDir: string, hasFailed: boolean, knowsDatabase: boolean): string {
  const lines = [
    `The backup of ${dataDir} in ${view.directory} is complete: ` +
      `${countText(view.files, 'file')}, ${bytesText(view.bytes)}.`,
    view.has_encryption_key
      ? 'It holds the encryption key of stored credentials: keep it as safe as the gateway itself.'
      : 'It holds no encryption key: a restore needs the one in use now, in SIGNALBOX_ENCRYPTION_KEY.',
  ];
  if (view.state === 'postgresql') {
    lines.push(
      'Accounts, keys and the ledger are in PostgreSQL, not in this backup. Dump it now, after this backup' +
        `${knowsDatabase ? '' : ', with DATABASE_URL set to that of the gateway (it is not set here)'}:`,
      `  pg_dump --format=custom --file=${view.directory}/postgresql.dump "$DATABASE_URL"`,
    );
  } else {
    lines.push(
      hasFailed
        ? 'The books in it are WRONG, as they are in the gateway: see signalbox ledger verify.'
        : `The books in it are right; ${countText(view.open_reservations, 'generation')} under way.`,
    );
  }
  return `${lines.join('\n')}\n`;
}
