import type { Provider } from '../catalog/catalog.ts';
import type { DialectName, EmbeddingDialectName, RequestFormat } from '../ir/items.ts';

/** `relay`: the caller's own body out, the upstream's own frames back. `translate`: through the representation. */
export type Lane = 'relay' | 'translate';

/** The dialect of embeddings that providers speak, by the dialect of their conversations. */
const EMBEDDINGS_OF: Readonly<Record<Provider['dialect'], EmbeddingDialectName>> = {
  chat: 'embeddings',
  responses: 'embeddings',
  messages: 'embeddings',
  simulator: 'embeddings',
  gemini: 'gemini-embeddings',
  bedrock: 'bedrock-embeddings',
};

/** The dialect that a provider speaks for a request of a given format: the simulator takes the caller's own. */
export function dialectOf(
  provider: Pick<Provider, 'dialect' | 'simulatedFormat'> & Partial<Pick<Provider, 'quirks'>>,
  format: RequestFormat,
): DialectName | EmbeddingDialectName {
  if (format === 'embeddings') return provider.quirks?.embeddings ?? EMBEDDINGS_OF[provider.dialect];
  return provider.dialect === 'simulator' ? (provider.simulatedFormat ?? format) : provider.dialect;
}
