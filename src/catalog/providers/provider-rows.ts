import { lookUp } from '../../kit/net/lookup.ts';
import type { DialectWord, ProviderEntry } from '../entries.ts';
import { SIMULATOR_PROVIDER } from '../simulator-catalog.ts';
import type { Auth } from './provider.ts';
import { PROVIDER_TABLE, type ProviderRow } from './provider-table.ts';

/** Default authorization scheme of each dialect. */
const AUTH_OF: Readonly<Record<DialectWord, Auth>> = {
  'openai-chat': 'bearer',
  'openai-responses': 'bearer',
  'anthropic-messages': 'x-api-key',
  'google-gemini': 'google',
  'aws-bedrock': 'aws',
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
  return row?.auth ?? (dialect ? AUTH_OF[dialect] : undefined);
}
