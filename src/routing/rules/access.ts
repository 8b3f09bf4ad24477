import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';
import { type Access, SHARED } from './candidate.ts';

/** Own credentials per endpoint, of each kind (regular, fallback): more than a request ever tries. */
const MAX_CREDENTIALS_PER_KIND = 8;

const ONLY_SHARED: readonly Access[] = [SHARED];

/**
 * The credentials that an endpoint may be called with: the gateway's, then the caller's own for this provider. A
 * dormant provider has only the latter.
 */
export function accessesTo(
  endpoint: Endpoint,
  model: Model,
  own: readonly OwnCredential[],
): readonly Access[] {
  if (own.length === 0) return ONLY_SHARED;
  const fitting = own.filter((credential) => isOf(credential, endpoint) && covers(credential, model));
  const copies = [
    ...fitting.filter(({ isFallback }) => !isFallback).slice(0, MAX_CREDENTIALS_PER_KIND),
    ...fitting.filter(({ isFallback }) => isFallback).slice(0, MAX_CREDENTIALS_PER_KIND),
  ].map((credential): Access => ({ kind: 'own', credential }));
  if (copies.length === 0) return ONLY_SHARED;
  return hasSharedAccess(endpoint) ? [SHARED, ...copies] : copies;
}

/** True if the gateway or the caller has a credential for an endpoint. */
export function isOpenTo(endpoint: Endpoint, model: Model, own: readonly OwnCredential[]): boolean {
  return accessesTo(endpoint, model, own).some(({ kind }) => kind === 'own' || hasSharedAccess(endpoint));
}

/** True if the gateway can call an endpoint without a credential of the caller. */
export function hasSharedAccess({ provider }: Endpoint): boolean {
  return provider.isDormant !== true;
}

/** True if a credential of the caller forbids the gateway's credential for this model and provider. */
export function excludesShared(endpoint: Endpoint, model: Model, own: readonly OwnCredential[]): boolean {
  return own.some(
    (credential) =>
      isOf(credential, endpoint) &&
      (credential.isOwnOnly || (credential.isRequired && covers(credential, model))),
  );
}

function isOf(credential: OwnCredential, endpoint: Endpoint): boolean {
  return credential.provider === endpoint.provider.slug;
}

function covers({ allowedModels }: OwnCredential, model: Model): boolean {
  return allowedModels === null || allowedModels.has(model.id);
}
