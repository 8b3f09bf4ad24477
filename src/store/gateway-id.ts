import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DataDirectoryProblem } from './data-directory-problem.ts';
import { readIfThere } from './read-if-there.ts';
import { writeWhole } from './write-whole.ts';

/** What is known of a gateway that shares its database with others: made once, kept in its data directory. */
export function readOrMakeGatewayId(directory: string): string {
  const file = join(directory, 'gateway-id');
  const stored = readIfThere(file)?.toString('utf8').trim();
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
