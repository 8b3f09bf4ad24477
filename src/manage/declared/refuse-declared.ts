import { GatewayError } from '../../ir/errors.ts';
import type { FileMember } from '../../ports/tenancy.ts';

/** Throws 409 for a change of something that the configuration file declares. */
export function refuseDeclared(what: string, member: FileMember): void {
  if (member === null) return;
  throw new GatewayError(
    'conflict',
    `This ${what} is managed by the configuration file: change ${member} there`,
  );
}
