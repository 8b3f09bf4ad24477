import { expect, it } from 'vitest';
import { GenerationRefused } from '../../../../ports/generations/generations.ts';
import { DatabaseUnavailable } from '../../../sql/database-unavailable.ts';
import { DuckdbFileDamaged, duckdbErrorOf } from './duckdb-errors.ts';

it.each([
  [
    'IO Error: Could not set lock on file "x": Conflicting lock is held in node (PID 1)',
    true,
    DatabaseUnavailable,
  ],
  ['IO Error: Could not write file "x": No space left on device', false, DatabaseUnavailable],
  ['Failure while replaying WAL file "x.wal": No space left on device', true, DatabaseUnavailable],
  ['IO Error: Cannot open file "x": Permission denied', true, DatabaseUnavailable],
  ['IO Error: The file "x" exists, but it is not a valid DuckDB database file!', true, DuckdbFileDamaged],
  ['an unknown error', true, DuckdbFileDamaged],
  ['an unknown error', false, DatabaseUnavailable],
  ['IO Error: Corrupt database file: computed checksum 1 does not match 2', false, DuckdbFileDamaged],
  ['Out of Range Error: Overflow in SUM', false, GenerationRefused],
  [
    'FATAL Error: database has been invalidated because of a previous fatal error',
    false,
    DatabaseUnavailable,
  ],
])('takes "%s" (while opening: %s) for what it is', (message, isOpening, kind) => {
  expect(duckdbErrorOf(message, isOpening)).toBeInstanceOf(kind);
});
