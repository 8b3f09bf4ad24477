import { describe, expect, it } from 'vitest';
import { NOTHING } from '../../../../ir/amount.ts';
import { encodeRecord, type LedgerRecord } from '../../records/records.ts';
import { LocalGenerations } from './local-generations.ts';

const scopes = { key: 'k', workspace: 'w', account: 'a' };
const limits = { key: [], workspace: [] };
const reserved = { creditNanos: 5n, byokNanos: 0n };

const RECORDS = {
  accept: { kind: 'accept', sequence: 1, atMs: 1, generationId: 'g', scopes, limits, reserved, row: {} },
  'top-up': { kind: 'top-up', sequence: 2, atMs: 2, generationId: 'g', reserved },
  checkpoint: { kind: 'checkpoint', sequence: 3, atMs: 3, generationId: 'g', spent: NOTHING, row: { x: 1 } },
  settle: {
    kind: 'settle',
    sequence: 4,
    atMs: 4,
    generationId: 'g',
    scopes,
    charge: reserved,
    writtenOffNanos: 0n,
    writtenOffCause: null,
    row: {},
  },
  void: { kind: 'void', sequence: 4, atMs: 4, generationId: 'g' },
} as const satisfies Partial<Record<LedgerRecord['kind'], LedgerRecord>>;

function replayed(...kinds: (keyof typeof RECORDS)[]): LocalGenerations {
  const generations = new LocalGenerations();
  kinds.forEach((kind, index) => {
    generations.replay({
      record: encodeRecord(RECORDS[kind]),
      position: { segment: index + 3, offset: 50 },
    });
  });
  return generations;
}

describe('LocalGenerations', () => {
  it('finds what is open, with its last checkpoint, and needs the journal from its beginning on', () => {
    const generations = replayed('accept', 'top-up', 'checkpoint');
    expect(generations.open.get('g')).toMatchObject({ reserved, checkpoint: { row: { x: 1 } } });
    expect(generations.firstSegment).toBe(3);
    expect(generations.nextSequence()).toBe(4);
  });

  it('knows whether a limit covered what is open; records of older versions do not say so', () => {
    expect(replayed('accept').open.get('g')).toMatchObject({ isUnlimited: false });
    const generations = new LocalGenerations();
    generations.replay({
      record: encodeRecord({ ...RECORDS.accept, isUnlimited: true }),
      position: { segment: 1, offset: 0 },
    });
    generations.replay({ record: encodeRecord(RECORDS.checkpoint), position: { segment: 1, offset: 50 } });
    expect(generations.open.get('g')).toMatchObject({ isUnlimited: true, checkpoint: { row: { x: 1 } } });
  });

  it.each(['settle', 'void'] as const)('lists what ended with %s for booking, once', (kind) => {
    const generations = replayed('accept', 'checkpoint', kind, 'accept', 'checkpoint', kind);
    expect(generations.open.size).toBe(0);
    expect([...generations.unbooked.keys()]).toEqual(['g']);
    generations.booked([...generations.unbooked.values()]);
    expect(generations.unbooked.size).toBe(0);
    expect(generations.firstSegment).toBeUndefined();
    expect(() => generations.begin('g', 9)).toThrow('g has been accepted before');
  });

  it('books a settlement whose beginning is gone', () => {
    expect([...replayed('settle').unbooked.keys()]).toEqual(['g']);
  });

  it.each(['top-up', 'checkpoint', 'void'] as const)(
    'keeps no segment for a %s whose beginning is gone',
    (kind) => {
      const generations = replayed(kind);
      expect(generations.firstSegment).toBeUndefined();
      expect(generations.unbooked.size).toBe(0);
    },
  );
});
