import { describe, expect, it } from 'vitest';
import { plusWriteOffs, writeOffsIn } from './write-offs.ts';

describe('plusWriteOffs', () => {
  it('has one entry for each cause', () => {
    const one = [{ cause: 'dropped', nanos: 1n }] as const;
    const other = [
      { cause: 'abandoned', nanos: 2n },
      { cause: 'dropped', nanos: 3n },
    ] as const;
    expect(plusWriteOffs(one, other)).toEqual([
      { cause: 'dropped', nanos: 4n },
      { cause: 'abandoned', nanos: 2n },
    ]);
    expect(plusWriteOffs(undefined, one)).toBe(one);
    expect(plusWriteOffs(one, undefined)).toBe(one);
  });
});

describe('writeOffsIn', () => {
  const listed = { write_offs: [{ cause: 'abandoned', nanos: '100' }] };

  it.each([
    ['nothing', { writtenOffNanos: 0n, writtenOffCause: null, row: {} }, []],
    ['its list', { writtenOffNanos: 100n, writtenOffCause: 'abandoned', row: listed }, [['abandoned', 100n]]],
    [
      'the rest by the cause of the record: what was released when it was booked',
      { writtenOffNanos: 150n, writtenOffCause: 'released', row: listed },
      [
        ['abandoned', 100n],
        ['released', 50n],
      ],
    ],
    [
      'all of it, without a list',
      { writtenOffNanos: 7n, writtenOffCause: 'price', row: {} },
      [['price', 7n]],
    ],
    ['output, without a cause', { writtenOffNanos: 7n, writtenOffCause: null, row: {} }, [['output', 7n]]],
  ] as const)('shows %s', (_, record, parts) => {
    expect(writeOffsIn(record)).toEqual(parts.map(([cause, nanos]) => ({ cause, nanos })));
  });
});
