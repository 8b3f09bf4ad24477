import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Amount, minus, NOTHING, plus } from '../../../../ir/amount.ts';
import { Slice } from './slice.ts';

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });
const PAYER = { scopes: { key: 'k', workspace: 'w', account: 'a' }, limits: { key: [], workspace: [] } };

it('a slice pays for no more than it holds, in any order of taking, ending, booking, raising and lowering', () => {
  const nanos = fc.bigInt(0n, 50n);
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('take', 'raise', 'lower', 'end'), nanos }),
    fc.record({ kind: fc.constant('book'), nanos }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (history) => {
      const slice = new Slice('slice-1', PAYER, 0);
      const open: bigint[] = [];
      const ended: bigint[] = [];
      /** What the database has. */
      let held = NOTHING;
      for (const { kind, nanos } of history) {
        if (kind === 'take' && slice.take(credit(nanos))) open.push(nanos);
        else if (kind === 'raise') {
          slice.raise(credit(nanos), 0);
          held = plus(held, credit(nanos));
        } else if (kind === 'lower') held = minus(held, slice.lower(credit(nanos)));
        else if (kind === 'end') {
          const reserved = open.shift();
          if (reserved === undefined) continue;
          const charge = nanos < reserved ? nanos : reserved;
          slice.giveBack(credit(reserved - charge));
          ended.push(charge);
        } else if (kind === 'book') {
          const charge = ended.shift();
          if (charge === undefined) continue;
          slice.booked(credit(charge));
          held = minus(held, credit(charge));
        }
        const taken = [...open, ...ended].reduce((sum, each) => sum + each, 0n);
        expect(slice.held).toEqual(held);
        expect(slice.free).toEqual(minus(held, credit(taken)));
        expect(slice.free.creditNanos).toBeGreaterThanOrEqual(0n);
        expect(slice.isTaken).toBe(open.length + ended.length > 0);
      }
      slice.close();
      expect(slice.take(NOTHING)).toBe(false);
    }),
  );
});
