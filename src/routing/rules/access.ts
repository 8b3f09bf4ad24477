import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';
import { type Access, SHARED } from './candidate.ts';

/** Copies of one endpoint, of each kind of credential: more than a request ever tries. */
const MOST_COPIES = 8;

const ONLY_SHARED: readonly Access[] = [SHARED];

/**
 * The credentials that an endpoint may be called with: the gateway's own, then those of the caller that are for it. An
 * endpoint of a provider without the former is open to the latter alone.
 */
export function accessesTo(
  endpoint: Endpoint,
  model: Model,
  own: readonly OwnCredential[],
): readonly Access[] {
  if (own.length === 0) return ONLY_SHARED;
  const fitting = own.filter((credential) => isOf(credential, endpoint) && covers(credential, model));
  const copies = [
    ...fitting.filter(({ isFallback }) => !isFallback).slice(0, MOST_COPIES),
    ...fitting.filter(({ isFallback }) => isFallback).slice(0, MOST_COPIES),
  ].map((credential): Access => ({ kind: 'own', credential }));
  if (copies.length === 0) return ONLY_SHARED;
  return isServed(endpoint) ? [SHARED, ...copies] : copies;
}

/** Whether the gateway's credentials or the caller's open an endpoint. */
export function isOpenTo(endpoint: Endpoint, model: Model, own: readonly OwnCredential[]): boolean {
  return accessesTo(endpoint, model, own).some(({ kind }) => kind === 'own' || isServed(endpoint));
}

/** Whether the gateway has what it takes to call an endpoint with a credential of its own. */
export function isServed({ provider }: Endpoint): boolean {
  return provider.isServed !== false;
}

/** Whether one of the caller's credentials keeps requests for the model from the provider's shared endpoints. */
export function isReserved(endpoint: Endpoint, model: Model, own: readonly OwnCredential[]): boolean {
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
