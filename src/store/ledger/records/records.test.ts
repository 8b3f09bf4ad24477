import { describe, expect, it } from 'vitest';
import { LedgerDataProblem } from './codec.ts';
import { decodeRecord, encodeRecord, type LedgerRecord, recordHeadOf } from './records.ts';

const scopes = { key: 'a'.repeat(64), workspace: 'w', account: 'acc' };
const head = { sequence: 7, atMs: 1_750_000_000_000 };
const amount = { creditNanos: 2n ** 70n, byokNanos: 0n };
const row = JSON.parse('{"model":"a/b","note":"ü \\u0001","nested":[1,null,{"__proto__":1}]}');

const RECORDS: { readonly [K in LedgerRecord['kind']]: Extract<LedgerRecord, { kind: K }> } = {
  accept: {
    kind: 'accept',
    ...head,
    generationId: 'gen-1',
    scopes,
    limits: {
      key: [{ window: 'monthly', nanos: 5n, countsByok: true }],
      workspace: [
        { window: 'daily', nanos: 1n, countsByok: false },
        { window: 'lifetime', nanos: 2n, countsByok: false },
      ],
    },
    reserved: amount,
    row,
  },
  'top-up': { kind: 'top-up', ...head, generationId: 'gen-1', reserved: amount },
  checkpoint: { kind: 'checkpoint', ...head, generationId: 'gen-1', spent: amount, row },
  settle: {
    kind: 'settle',
    ...head,
    generationId: 'gen-1',
    scopes,
    charge: amount,
    writtenOffNanos: 3n,
    writtenOffCause: 'price',
    row,
  },
  void: { kind: 'void', ...head, generationId: 'gen-1' },
  grant: { kind: 'grant', ...head, accountId: 'acc', grantedNanos: -5n },
  forget: { kind: 'forget', ...head, scope: 'workspace', id: 'w' },
};

const bytesOf = (text: string, version = 1) => Buffer.from(String.fromCharCode(version) + text);

describe('records', () => {
  it.each(Object.values(RECORDS).map((record) => [record.kind, record] as const))(
    '%s survives writing and reading, wherever it stands in a buffer',
    (_kind, record) => {
      const bytes = encodeRecord(record);
      expect(decodeRecord(bytes)).toEqual(record);
      const framed = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')]);
      expect(decodeRecord(framed.subarray(6, 6 + bytes.length))).toEqual(record);
    },
  );

  it('is read without a cause that a later release wrote', () => {
    const text = Buffer.from(encodeRecord(RECORDS.settle)).toString();
    const later = Buffer.from(text.replace('"price"', '"gravity"'));
    expect(decodeRecord(later)).toEqual({ ...RECORDS.settle, writtenOffCause: null });
  });

  it('has no cause where nothing was written off, as in records of versions that knew of none', () => {
    const record = { ...RECORDS.settle, writtenOffNanos: 0n, writtenOffCause: null };
    const bytes = encodeRecord(record);
    expect(Buffer.from(bytes).toString()).not.toContain('writtenOffCause');
    expect(decodeRecord(bytes)).toEqual(record);
  });

  it('notes that a balance is not enforced', () => {
    const record = { ...RECORDS.grant, grantedNanos: null };
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });

  it.each([
    ['a version', bytesOf('{}', 2), 'version 2'],
    ['no byte at all', Buffer.alloc(0), 'version none'],
    ['a kind', bytesOf('{"kind":"refund"}'), 'unknown kind "refund"'],
    ['a kind that every object has', bytesOf('{"kind":"toString"}'), 'unknown kind "toString"'],
    ['no kind', bytesOf('[]'), 'unknown kind "undefined"'],
    ['text that is not JSON', bytesOf('{'), 'not JSON'],
    [
      'a missing member',
      bytesOf('{"kind":"void","sequence":1,"atMs":1}'),
      'void.generationId: expected text',
    ],
    [
      'money as a number',
      bytesOf('{"kind":"grant","sequence":1,"atMs":1,"accountId":"a","grantedNanos":5}'),
      'grant.grantedNanos: expected nano-dollars',
    ],
    [
      'an unknown scope',
      bytesOf('{"kind":"forget","sequence":1,"atMs":1,"scope":"account","id":"a"}'),
      'forget.scope: expected key, workspace',
    ],
  ])('are refused by name: %s', (_what, bytes, message) => {
    expect(() => decodeRecord(bytes)).toThrow(LedgerDataProblem);
    expect(() => decodeRecord(bytes)).toThrow(message);
  });
});

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
