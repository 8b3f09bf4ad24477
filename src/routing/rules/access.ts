import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { type Access, SHARED } from './candidate.ts';

/** BYOK credentials per endpoint, of each kind (regular, fallback): more than a request ever tries. */
const MAX_CREDENTIALS_PER_KIND = 8;

const ONLY_SHARED: readonly Access[] = [SHARED];

/**
 * The credentials that an endpoint may be called with: the gateway's, then the caller's BYOK credentials
 * for this provider. A dormant provider has only the latter.
 */
export function accessesTo(
  endpoint: Endpoint,
  model: Model,
  byok: readonly ByokCredential[],
): readonly Access[] {
  if (byok.length === 0) return ONLY_SHARED;
  const fitting = byok.filter((credential) => isOf(credential, endpoint) && covers(credential, model));
  const copies = [
    ...fitting.filter(({ isFallback }) => !isFallback).slice(0, MAX_CREDENTIALS_PER_KIND),
    ...fitting.filter(({ isFallback }) => isFallback).slice(0, MAX_CREDENTIALS_PER_KIND),
  ].map((credential): Access => ({ kind: 'byok', credential }));
  if (copies.length === 0) return ONLY_SHARED;
  return hasSharedAccess(endpoint) ? [SHARED, ...copies] : copies;
}

/** True if the gateway or the caller has a credential for an endpoint. */
export function isOpenTo(endpoint: Endpoint, model: Model, byok: readonly ByokCredential[]): boolean {
  return accessesTo(endpoint, model, byok).some(({ kind }) => kind === 'byok' || hasSharedAccess(endpoint));
}

/** True if the gateway can call an endpoint without a credential of the caller. */
export function hasSharedAccess({ provider }: Endpoint): boolean {
  return provider.isDormant !== true;
}

/** True if a credential of the caller forbids the gateway's credential for this model and provider. */
export function excludesShared(endpoint: Endpoint, model: Model, byok: readonly ByokCredential[]): boolean {
  return byok.some(
    (credential) =>
      isOf(credential, endpoint) &&
      (credential.isByokOnly || (credential.isRequired && covers(credential, model))),
  );
}

function isOf(credential: ByokCredential, endpoint: Endpoint): boolean {
  return credential.provider === endpoint.provider.slug;
}

function covers({ allowedModels }: ByokCredential, model: Model): boolean {
  return allowedModels === null || allowedModels.has(model.id);
}
