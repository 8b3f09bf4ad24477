import { GatewayError } from '../../../ir/errors.ts';
import { GenerationRefused } from '../../../ports/generations.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';

/** The file cannot be read, and no other try will help: it is damaged, of another program, or of another release. */
export class DuckdbFileDamaged extends Error {}

/** More would have to be kept in memory than is set aside for it. */
export class QueryTooLarge extends GatewayError {
  constructor() {
    super(
      'invalid-request',
      'time_range: the question needs more memory than there is for one; ask for a shorter range, fewer metrics or fewer dimensions',
    );
  }
}

/** Whether memory was what an error of DuckDB was about. */
export function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof DatabaseUnavailable &&
    /out of memory/i.test((error.cause as Error | undefined)?.message ?? '')
  );
}

/** What an error of DuckDB says when it may pass: another process has the file, the disk is full or away. */
const TRANSIENT =
  /could not set lock|conflicting lock|no space left|file too large|quota|permission denied|read-only file|too many open files|input\/output error|cannot open file|no such file|out of memory|interrupted/i;

/** What it says of a file that it can no longer read, also after it was opened. */
const DAMAGED =
  /not a valid duckdb database|version number|corrupt|checksum|serialization error|replaying wal|enough bytes/i;

/** What it says when a sum goes beyond 64 bits. */
const OUT_OF_RANGE = /^(out of range|conversion) error/i;

/** What an error of DuckDB means. While a file is opened everything is damage that is not known to pass. */
export function duckdbErrorOf(message: string, isOpening: boolean): Error {
  const cause = new Error(message);
  if (TRANSIENT.test(message)) return new DatabaseUnavailable(cause);
  if (isOpening || DAMAGED.test(message)) return new DuckdbFileDamaged(message);
  return OUT_OF_RANGE.test(message) ? new GenerationRefused(message) : new DatabaseUnavailable(cause);
}
