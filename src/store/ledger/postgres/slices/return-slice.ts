import { NOTHING } from '../../../../ir/amount.ts';
import { askReservation, dropReservation } from '../tallies/reservation-sql.ts';
import type { ReservingGateway } from '../tallies/reserve.ts';
import type { Slice } from './slice.ts';

/** `returned`: all of it. `lowered`: what was free. `missing`: the database did not have it. */
export type ReturnOutcome = 'returned' | 'lowered' | 'missing';

/**
 * Gives the free money of a slice back to the database; of a closed slice that nothing is taken from all of it. The
 * slice has less at once, so that nothing is taken meanwhile: if the answer is lost, the database holds more than the
 * gateway counts on. Rejects with DatabaseUnavailable.
 */
export async function returnSlice(gateway: ReservingGateway, slice: Slice): Promise<ReturnOutcome> {
  const { id, payer } = slice;
  if (!slice.isOpen && !slice.isTaken) {
    await dropReservation(gateway.database, { id, ...payer }, gateway.clock);
    return 'returned';
  }
  const { creditNanos, byokNanos } = slice.lower(NOTHING);
  if (creditNanos === 0n && byokNanos === 0n) return 'lowered';
  const amount = { creditNanos: -creditNanos, byokNanos: -byokNanos };
  const request = { id, ...payer, amount };
  const { verdict } = await askReservation(gateway.database, 'more', request, gateway, gateway.clock);
  return verdict === 'reserved' ? 'lowered' : 'missing';
}
