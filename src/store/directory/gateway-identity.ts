import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DataDirectoryProblem } from './data-directory-problem.ts';
import { readIfThere, writeWhole } from './whole-files.ts';

const FILE = 'gateway-id';

/** The id that a gateway is known by where it shares its database; undefined while its data directory has none. */
export function readGatewayId(directory: string): string | undefined {
  return readIfThere(join(directory, FILE))?.toString('utf8').trim();
}

/** The same, made if there is none: once, and kept in the data directory. */
export function readOrMakeGatewayId(directory: string): string {
  const file = join(directory, FILE);
  const stored = readGatewayId(directory);
  if (stored === undefined) {
    const made = randomUUID();
    writeWhole(file, `${made}\n`);
    return made;
  }
  if (/^[0-9a-f-]{36}$/.test(stored)) return stored;
  throw new DataDirectoryProblem(
    `${file} does not hold the id of a gateway; put the right file back from a backup`,
    false,
  );
}

const OWNER_FILE = 'gateway-owner';

/** Earlier owners that stay known after the database has the newest: it may be restored to an older state. */
const MAX_EARLIER_OWNERS = 8;

/**
 * Who a gateway is where it shares its database: its id, and an owner word that each run makes and leaves in the data directory
 * and in the database. A copy of the directory that runs too leaves another word, and so the two are told apart. Only for a
 * process that serves: a command has no run of its own.
 */
export class GatewayIdentity {
  readonly #directory: string;
  #id: string;
  /** The owner word of this run. */
  readonly owner = randomUUID();
  /**
   * Owner words of earlier runs, newest first. All runs since the last that the database knows are among them: one that was
   * killed early has left its word in the directory, not in the database.
   */
  readonly earlierOwners: readonly string[];

  constructor(directory: string) {
    this.#directory = directory;
    this.#id = readOrMakeGatewayId(directory);
    const earlier = readIfThere(join(directory, OWNER_FILE))?.toString('utf8').trim() ?? '';
    this.earlierOwners = earlier === '' ? [] : earlier.split('\n');
    this.#writeOwners(this.earlierOwners);
  }

  get id(): string {
    return this.#id;
  }

  /** The database has the owner word of this run: most earlier ones are not needed any more. */
  adopted(): void {
    if (this.earlierOwners.length > MAX_EARLIER_OWNERS) {
      this.#writeOwners(this.earlierOwners.slice(0, MAX_EARLIER_OWNERS));
    }
  }

  /** Takes another id: a copy of the data directory goes on with the one it had. */
  renew(): void {
    this.#id = randomUUID();
    writeWhole(join(this.#directory, FILE), `${this.#id}\n`);
  }

  #writeOwners(earlier: readonly string[]): void {
    writeWhole(join(this.#directory, OWNER_FILE), [this.owner, ...earlier, ''].join('\n'));
  }
}
