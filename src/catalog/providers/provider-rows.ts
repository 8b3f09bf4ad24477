import { lookUp } from '../../kit/net/lookup.ts';
import type { DialectWord, ProviderEntry } from '../entries.ts';
import { SIMULATOR_PROVIDER } from '../simulator-catalog.ts';
import type { Auth } from './provider.ts';
import { PROVIDER_TABLE, type ProviderRow } from './provider-table.ts';

/** How each dialect is authorized unless the provider's row says otherwise. */
const AUTH_OF: Readonly<Record<DialectWord, Auth>> = {
  'openai-chat': 'bearer',
  'openai-responses': 'bearer',
  'anthropic-messages': 'x-api-key',
  'google-gemini': 'google',
  'aws-bedrock': 'aws',
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
  return row?.auth ?? (dialect ? AUTH_OF[dialect] : undefined);
}
