import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DataDirectoryProblem } from './data-directory-problem.ts';
import { readIfThere } from './read-if-there.ts';
import { writeWhole } from './write-whole.ts';

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
