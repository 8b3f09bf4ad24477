import type { CurrentKey } from './contract.ts';
import { ask, send } from './request.ts';

/** Who is signed in. `ended`: the session of this key is no longer valid, and the gateway said why. */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' }
  | { readonly kind: 'ended'; readonly key: CurrentKey; readonly reason: string }
  | { readonly kind: 'signed-in'; readonly key: CurrentKey };

/** Exchanges a key for the cookie of a session. The key is not kept. */
export async function signIn(secret: string): Promise<CurrentKey> {
  await send('/sessions', { method: 'POST', headers: { Authorization: `Bearer ${secret}` } });
  return readCurrentKey();
}

export async function signOut(): Promise<void> {
  await send('/sessions/current', { method: 'DELETE' });
}

export async function readCurrentKey(): Promise<CurrentKey> {
  return (await ask<{ data: CurrentKey }>('/key')).data;
}

/**
 * True if two keys are shown the same: one key, or two management keys of an account. A workspace belongs to one
 * account.
 */
export function seesTheSame(one: CurrentKey, other: CurrentKey): boolean {
  const isOfAccount = one.workspace_id !== null && one.workspace_id === other.workspace_id;
  return one.hash === other.hash || (one.is_management_key && other.is_management_key && isOfAccount);
}

/** The session that the browser already has. */
export async function readSession(): Promise<SessionState> {
  const { data: key } = await ask<{ data: CurrentKey | null }>('/sessions/current');
  return key === null ? { kind: 'none' } : { kind: 'signed-in', key };
}
