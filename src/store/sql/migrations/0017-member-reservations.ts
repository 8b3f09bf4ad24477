import type { Migration } from './migration.ts';

/** The member that a reservation counts for; null = none. */
export const memberReservationsMigration: Migration = {
  name: '0017-member-reservations',
  async up({ schema }) {
    await schema.alterTable('ledger_reservations').addColumn('member_id', 'text').execute();
  },
};
