import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../kit/text/kept-text.ts';
import type { Use } from '../../ports/money/ledger.ts';
import { type WithRowText, withRow, withRowText } from './row-text.ts';

const USE: Use = {
  used: { creditNanos: 2n ** 70n, byokNanos: 0n },
  exceededBy: undefined,
  row: { model: 'acme/one', title: 'naïve \ud800 \u2028 "text"', list: [1, { deep: null }] },
  atMs: 5,
};

const overTheWire = (use: Use): Use =>
  withRow<Use>(deserialize(serialize(withRowText(use))) as WithRowText<Use>);

describe('the row of a message, as text', () => {
  it('arrives with all other members as it was', () => {
    expect(overTheWire(USE)).toEqual(USE);
  });

  it('leaves out members without a value, as the journal does', () => {
    const { row } = overTheWire({ ...USE, row: { kept: null, absent: undefined } });
    expect(Object.keys(row)).toEqual(['kept']);
  });

  it('is not written a second time', () => {
    const text = textOf(overTheWire(USE).row, () => 'written again');
    expect(text).toBe(JSON.stringify(USE.row));
  });
});
