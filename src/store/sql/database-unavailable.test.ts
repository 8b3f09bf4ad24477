import { describe, expect, it } from 'vitest';
import { DatabaseUnavailable, databaseProblemOf } from './database-unavailable.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });

describe('what a failing database means', () => {
  it.each(['EPIPE', 'ECONNRESET', 'CONNECTION_CLOSED', '57P01', '08006', '25006', '53300'])(
    '%s: it is away',
    (code) => {
      expect(databaseProblemOf(coded(code))).toBeInstanceOf(DatabaseUnavailable);
    },
  );

  it.each(['23505', '40001', '22P02', 'XX000', 'UNDEFINED_VALUE'])('%s: it answered', (code) => {
    expect(databaseProblemOf(coded(code))).toMatchObject({ code });
  });
});
