import type { Provider } from '../catalog/catalog.ts';
import type { DialectName, EmbeddingDialectName, RequestFormat } from '../ir/items.ts';
import { DIALECTS } from './dialects.ts';

/** `relay`: the caller's own body out, the upstream's own frames back. `translate`: through the representation. */
export type Lane = 'relay' | 'translate';

/** The dialect that a provider speaks for a request of a given format: the simulator takes the caller's own. */
export function dialectOf(
  provider: Pick<Provider, 'dialect' | 'simulatedFormat'> & Partial<Pick<Provider, 'quirks'>>,
  format: RequestFormat,
): DialectName | EmbeddingDialectName | 'decisions' {
  const { dialect } = provider;
  if (format === 'embeddings') {
    const usual = dialect === 'simulator' ? undefined : DIALECTS[dialect].embeddings?.name;
    return provider.quirks?.embeddings ?? usual ?? format;
  }
  return dialect === 'simulator' ? (provider.simulatedFormat ?? format) : dialect;
}

/**
 * The dialect of a call. Decisions that cannot be relayed are asked for in a conversation, which the gateway has made
 * of them; guardrails scan and change that one.
 */
export function dialectOfCall(
  provider: Parameters<typeof dialectOf>[0],
  format: RequestFormat,
  lane: Lane,
): ReturnType<typeof dialectOf> {
  if (format !== 'decisions' || lane === 'relay') return dialectOf(provider, format);
  return provider.dialect === 'simulator' ? (provider.simulatedFormat ?? 'chat') : provider.dialect;
}
