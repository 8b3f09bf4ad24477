import type { Endpoint } from '../../catalog/catalog.ts';
import type { Access } from './candidate.ts';

/** True if a provider is known neither to train on prompts nor to retain them. */
export function retainsNothing({ provider: { dataPolicy } }: Pick<Endpoint, 'provider'>): boolean {
  return dataPolicy !== undefined && !dataPolicy.training && !dataPolicy.retainsPrompts;
}

/** True unless a provider is known not to train on prompts. */
export function mayTrain({ provider: { dataPolicy } }: Endpoint): boolean {
  return dataPolicy?.training !== false;
}

/** Zero retention as declared by the owner of a credential; null = not declared. */
export function declarationOf(access: Access): boolean | null {
  return access.kind === 'byok' ? access.credential.declaredZeroRetention : null;
}

/** True if nothing is retained behind an endpoint with this credential. */
export function hasZeroRetention(endpoint: Endpoint, access: Access): boolean {
  return declarationOf(access) ?? retainsNothing(endpoint);
}
