import { GenerationRefused } from '../../../../ports/generations/generations.ts';
import { DatabaseUnavailable } from '../../../sql/database-unavailable.ts';
import { EventsUnavailable } from '../../event-errors.ts';

/** The file is unreadable, and a retry does not help: it is damaged, or from another program or release. */
export class DuckdbFileDamaged extends Error {}

export function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof DatabaseUnavailable &&
    /out of memory/i.test((error.cause as Error | undefined)?.message ?? '')
  );
}

/** Messages of temporary errors: the file is locked, the disk is full or unavailable. */
const TRANSIENT =
  /could not set lock|conflicting lock|no space left|file too large|quota|permission denied|read-only file|too many open files|input\/output error|cannot open file|no such file|out of memory|interrupted/i;

/** Messages of damaged files, also after opening. */
const DAMAGED =
  /not a valid duckdb database|version number|corrupt|checksum|serialization error|replaying wal|enough bytes/i;

/** Messages of sums beyond 64 bits. */
const OUT_OF_RANGE = /^(out of range|conversion) error/i;

/** Maps a message of DuckDB to an error. While opening, every error that is not known to be temporary means damage. */
export function duckdbErrorOf(message: string, isOpening: boolean): Error {
  const cause = new Error(message);
  if (TRANSIENT.test(message)) return new EventsUnavailable(cause);
  if (isOpening || DAMAGED.test(message)) return new DuckdbFileDamaged(message);
  return OUT_OF_RANGE.test(message) ? new GenerationRefused(message) : new EventsUnavailable(cause);
}
