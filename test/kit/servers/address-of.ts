import { type DatabaseAddress, parseDatabaseAddress } from '../../../src/kit/net/database-address.ts';

/** The address behind a DATABASE_URL. */
export function addressOf(url: string): DatabaseAddress {
  const reading = parseDatabaseAddress(url);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.address;
}
