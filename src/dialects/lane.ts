import type { Endpoint, Provider } from '../catalog/catalog.ts';
import type { DecisionForm } from '../ir/decision.ts';
import type { DialectName, EmbeddingDialectName, RequestFormat } from '../ir/items.ts';
import { DIALECTS } from './dialects.ts';

/** `relay`: the caller's own body out, the upstream's own frames back. `translate`: through the representation. */
export type Lane = 'relay' | 'translate';

/** The dialect that a provider speaks for a request of a given format: the simulator takes the caller's own. */
export function dialectOf(
  provider: Pick<Provider, 'dialect' | 'simulatedFormat'> & Partial<Pick<Provider, 'quirks'>>,
  format: RequestFormat,
): DialectName | EmbeddingDialectName | 'decisions' | 'compaction' {
  const { dialect } = provider;
  if (format === 'embeddings') {
    const usual = dialect === 'simulator' ? undefined : DIALECTS[dialect].embeddings?.name;
    return provider.quirks?.embeddings ?? usual ?? format;
  }
  return dialect === 'simulator' ? (provider.simulatedFormat ?? format) : dialect;
}

/** An endpoint, as far as the dialect of a call depends on it. */
type CalledEndpoint = Pick<Endpoint, 'decisions'> & { readonly provider: Parameters<typeof dialectOf>[0] };

/** True if an endpoint takes the caller's own body; `form`: that of a request for decisions. */
export function canRelay(endpoint: CalledEndpoint, format: RequestFormat, form?: DecisionForm): boolean {
  const { provider, decisions } = endpoint;
  if (format === 'compaction') return provider.dialect === 'responses' && provider.quirks?.compacts === true;
  if (form === undefined || provider.dialect === 'simulator') return dialectOf(provider, format) === format;
  return decisions === form;
}

/**
 * The dialect of a call. Decisions and compactions that cannot be relayed are asked for in a conversation, which the
 * gateway has made of them; guardrails scan and change that one.
 */
export function dialectOfCall(
  { provider, decisions }: CalledEndpoint,
  format: RequestFormat,
  lane: Lane,
): DialectName | EmbeddingDialectName | 'decisions' | 'system-one' | 'compaction' {
  if (format !== 'decisions' && format !== 'compaction') return dialectOf(provider, format);
  if (lane === 'relay') return format === 'decisions' && decisions === 'system-one' ? decisions : format;
  return provider.dialect === 'simulator' ? (provider.simulatedFormat ?? 'chat') : provider.dialect;
}
