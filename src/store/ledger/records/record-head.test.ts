import { expect, it } from 'vitest';
import { recordHeadOf } from './record-head.ts';
import { encodeRecord, type LedgerRecord } from './records.ts';

it('is read from the beginning of a record', () => {
  const records: LedgerRecord[] = [
    { kind: 'void', sequence: 1, atMs: 5, generationId: 'g' },
    {
      kind: 'top-up',
      sequence: 2 ** 40,
      atMs: 5,
      generationId: 'g',
      reserved: { creditNanos: 1n, byokNanos: 0n },
    },
  ];
  for (const record of records)
    expect(recordHeadOf(encodeRecord(record))).toEqual({ kind: record.kind, sequence: record.sequence });
});

it('says what is wrong with a record that has none', () => {
  expect(() => recordHeadOf(Buffer.from('\u0001{"sequence":1}'))).toThrow('unknown kind');
  expect(() => recordHeadOf(Buffer.from('\u0002{}'))).toThrow('version 2');
});
