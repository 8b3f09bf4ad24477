import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { addressOf } from './address-of.ts';
import { databaseUrl, type PostgresPrograms, postgresProcess } from './postgres-process.ts';

/**
 * Makes a cluster of databases in `data`, whose database `postgres` has all tables: a copy of one that the first test
 * file of a run makes, because making one takes six times the processor time of a copy.
 */
export async function copyTemplate(programs: PostgresPrograms, data: string): Promise<void> {
  const template = join(inject('runDirectory'), 'postgres');
  const making = `${template}-making`;
  // Another worker may be making it.
  while (!existsSync(template)) {
    if (makeDirectory(making)) await makeTemplate(programs, making, template);
    else await sleep(20);
  }
  run(programs, 'cp', ['-a', template, data]);
}

/** False if it exists. */
function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Makes it in `directory`, which is removed, so that another worker tries if this one fails. */
async function makeTemplate(programs: PostgresPrograms, directory: string, template: string): Promise<void> {
  const { uid, gid } = programs.user;
  if (uid !== undefined) chownSync(directory, uid, gid ?? uid);
  const data = join(directory, 'data');
  const server = postgresProcess(programs, { data, directory });
  try {
    initialize(programs, data);
    await server.start();
    const database = await openPostgres(addressOf(databaseUrl(directory, 'postgres')), { nowMs: 1 });
    await database.close();
    await server.stop();
    renameSync(data, template);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The order of letters is not that of bytes, as in most databases of the world. */
function initialize(programs: PostgresPrograms, data: string): void {
  const common = ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'];
  // In megabytes: copies are smaller.
  common.push('--wal-segsize=1');
  const icu = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];
  const initdb = join(programs.directory, 'initdb');
  try {
    run(programs, initdb, [...common, ...icu]);
  } catch {
    run(programs, initdb, [...common, '--locale=C']);
  }
}

function run({ user }: PostgresPrograms, program: string, parameters: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, parameters, { ...user, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
