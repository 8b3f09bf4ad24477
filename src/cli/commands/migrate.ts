import { examineSchema, migrateSchema, type SchemaState, targetName } from '../../app/migration.ts';
import type { Flags } from '../../config/runtime.ts';
import { countText } from '../../kit/text/count-text.ts';
import type { CommandResult } from '../terminal/output.ts';
import { runtimeOf } from './backup.ts';

export interface MigrationView {
  readonly database: string;
  readonly up_to_date: boolean;
  readonly applied: readonly string[];
  readonly missing: readonly string[];
  readonly newer: readonly string[];
}

/** Exit code of `--check` if there is something to apply. */
const SOMETHING_TO_DO = 3;

/** Shows and applies what the schema of the database lacks; `isCheck`: only shows it. */
export async function migrateDatabase(flags: Flags, isCheck: boolean): Promise<CommandResult<MigrationView>> {
  const target = runtimeOf(flags);
  const before = await examineSchema(target);
  if (isCheck) {
    const view = viewOf(targetName(target), before, []);
    return { result: view, text: textOf(view), ...(!view.up_to_date && { exitCode: SOMETHING_TO_DO }) };
  }
  // Also if nothing is missing: a database that needs a newer release is refused there.
  await migrateSchema(target);
  const view = viewOf(targetName(target), { ...before, missing: [] }, before.missing);
  return { result: view, text: textOf(view) };
}

function viewOf(
  database: string,
  { missing, newer, required }: SchemaState,
  applied: readonly string[],
): MigrationView {
  const isUpToDate = missing.length === 0 && required.length === 0;
  return { database, up_to_date: isUpToDate, applied, missing, newer };
}

function textOf({ database, up_to_date, applied, missing, newer }: MigrationView): string {
  const lines = [
    ...(applied.length > 0 ? [`${database}: applied ${countText(applied.length, 'migration')}.`] : []),
    ...applied.map((name) => `  ${name}`),
    ...(missing.length > 0
      ? [`${database} lacks ${countText(missing.length, 'migration')}; signalbox migrate applies them.`]
      : []),
    ...missing.map((name) => `  ${name}`),
    ...(up_to_date && applied.length === 0 ? [`${database} is up to date.`] : []),
    ...(newer.length > 0 ? [`It has ${countText(newer.length, 'migration')} of a newer release:`] : []),
    ...newer.map((name) => `  ${name}`),
  ];
  return `${lines.join('\n')}\n`;
}
