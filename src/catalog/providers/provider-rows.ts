import { lookUp } from '../../kit/net/lookup.ts';
import type { DialectWord, ProviderEntry } from '../entries.ts';
import { SIMULATOR_PROVIDER } from '../simulator-catalog.ts';
import type { Auth } from './provider.ts';
import { PROVIDER_TABLE, type ProviderRow } from './provider-table.ts';

/** The vendor whose interface a dialect is, as its word begins. */
type VendorIn<Word extends string> = Word extends `${infer Vendor}-${string}` ? Vendor : Word;

/** How each vendor has its interface authorized. Other providers that speak it do the same unless their row says otherwise. */
const VENDOR_AUTH: Readonly<Record<VendorIn<DialectWord>, Auth>> = {
  openai: 'bearer',
  anthropic: 'x-api-key',
  google: 'google',
  aws: 'aws',
  simulator: 'none',
};

/** What the gateway knows of a provider without being told; undefined for names that it does not know. */
export function rowOf(slug: string): ProviderRow | undefined {
  return slug === SIMULATOR_PROVIDER.slug ? SIMULATOR_PROVIDER : lookUp(PROVIDER_TABLE, slug);
}

/** How a provider is authorized; undefined while nobody said its dialect. */
export function authOf(entry: Pick<ProviderEntry, 'slug' | 'dialect'>): Auth | undefined {
  const row = rowOf(entry.slug);
  const dialect = entry.dialect ?? row?.dialect;
  return row?.auth ?? (dialect ? VENDOR_AUTH[vendorIn(dialect)] : undefined);
}

function vendorIn(word: DialectWord): VendorIn<DialectWord> {
  return word.split('-', 1)[0] as VendorIn<DialectWord>;
}
