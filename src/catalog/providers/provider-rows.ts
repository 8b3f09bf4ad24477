import { lookUp } from '../../kit/collections/lookup.ts';
import type { DialectWord, ProviderEntry } from '../entries.ts';
import { SIMULATOR_PROVIDER } from '../simulator-catalog.ts';
import type { Auth } from './provider-members.ts';
import { PROVIDER_TABLE, type ProviderRow } from './provider-table.ts';

/** The vendor in a dialect's word: the part before the dash. */
type VendorIn<Word extends string> = Word extends `${infer Vendor}-${string}` ? Vendor : Word;

/** Authorization scheme of each vendor's interface: the default for all providers with that dialect. */
const VENDOR_AUTH: Readonly<Record<VendorIn<DialectWord>, Auth>> = {
  openai: 'bearer',
  anthropic: 'x-api-key',
  google: 'google',
  aws: 'aws',
  simulator: 'none',
};

/** The built-in row of a provider; undefined if it has none. */
export function rowOf(slug: string): ProviderRow | undefined {
  return slug === SIMULATOR_PROVIDER.slug ? SIMULATOR_PROVIDER : lookUp(PROVIDER_TABLE, slug);
}

/** Authorization scheme of a provider; undefined if its dialect is unknown. */
export function authOf(entry: Pick<ProviderEntry, 'slug' | 'dialect'>): Auth | undefined {
  const row = rowOf(entry.slug);
  const dialect = entry.dialect ?? row?.dialect;
  return row?.auth ?? (dialect ? VENDOR_AUTH[vendorIn(dialect)] : undefined);
}

function vendorIn(word: DialectWord): VendorIn<DialectWord> {
  return word.split('-', 1)[0] as VendorIn<DialectWord>;
}
