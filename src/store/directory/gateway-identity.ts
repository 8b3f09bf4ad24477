import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readIfExists, replaceFile } from './atomic-files.ts';
import { DataDirectoryProblem } from './data-directory-problem.ts';

const FILE = 'gateway-id';

/** The gateway's id in a shared database; undefined while its data directory has none. */
export function readGatewayId(directory: string): string | undefined {
  return readIfExists(join(directory, FILE))?.toString('utf8').trim();
}

export function readOrMakeGatewayId(directory: string): string {
  const file = join(directory, FILE);
  const stored = readGatewayId(directory);
  if (stored === undefined) {
    const made = randomUUID();
    replaceFile(file, `${made}\n`);
    return made;
  }
  if (/^[0-9a-f-]{36}$/.test(stored)) return stored;
  throw new DataDirectoryProblem(
    `${file} does not hold the id of a gateway; put the right file back from a backup`,
    false,
  );
}

const OWNER_FILE = 'gateway-owner';

/** Earlier owner tokens kept after the database has the newest one: the database may be restored to an older state. */
const MAX_EARLIER_OWNERS = 8;

/**
 * The identity of a gateway with a shared database: its id, and an owner token that each run writes to the data
 * directory and to the database. A running copy of the directory writes another token, which tells the two apart. Only
 * for gateways: commands have no token.
 */
export class GatewayIdentity {
  readonly #directory: string;
  #id: string;
  readonly owner = randomUUID();
  /**
   * Owner tokens of earlier runs, newest first. They include all runs since the last one that the database knows: a
   * run that was killed early has left its token in the directory only.
   */
  readonly earlierOwners: readonly string[];

  constructor(directory: string) {
    this.#directory = directory;
    this.#id = readOrMakeGatewayId(directory);
    const earlier = readIfExists(join(directory, OWNER_FILE))?.toString('utf8').trim() ?? '';
    this.earlierOwners = earlier === '' ? [] : earlier.split('\n');
    this.#writeOwners(this.earlierOwners);
  }

  get id(): string {
    return this.#id;
  }

  /** Call when the database has the token of this run: forgets all but the last earlier tokens. */
  forgetOldOwners(): void {
    if (this.earlierOwners.length > MAX_EARLIER_OWNERS) {
      this.#writeOwners(this.earlierOwners.slice(0, MAX_EARLIER_OWNERS));
    }
  }

  /** Takes a new id, because a copy of the data directory uses the old one. */
  renew(): void {
    this.#id = randomUUID();
    replaceFile(join(this.#directory, FILE), `${this.#id}\n`);
  }

  #writeOwners(earlier: readonly string[]): void {
    replaceFile(join(this.#directory, OWNER_FILE), [this.owner, ...earlier, ''].join('\n'));
  }
}
