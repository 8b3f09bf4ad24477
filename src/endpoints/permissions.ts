import { GatewayError } from '../ir/errors.ts';
import type { Caller } from '../ports/tenancy/caller.ts';

/**
 * Which kind of key a permission asks for: `none`; `optional`: none, but a valid key gets more; `any` valid key;
 * `inference`: no management key; `management` keys only; `operator`: management keys of the first account; `machine`:
 * no key at all, only the user of the machine, by the control socket.
 */
export type KeyKind = 'none' | 'optional' | 'any' | 'inference' | 'management' | 'operator' | 'machine';

/**
 * THE table of permissions. Every endpoint and every command of the control socket names the one that it needs, and
 * what that asks of a caller is said here alone: whatever else decides who may do something, or records that it was
 * done, belongs to the permission too.
 */
export const PERMISSIONS = {
  'probes.read': 'none',
  'interface.read': 'none',
  /** With a key, what serves its workspace alone is shown too. */
  'catalogue.read': 'optional',
  /** With a key, what was measured of endpoints is shown too. */
  'endpoints.read': 'optional',
  'models.read': 'any',
  'routing.explain': 'any',
  'generations.run': 'inference',
  'generations.read': 'any',
  'overview.read': 'any',
  'datasets.read': 'any',
  'own-key.read': 'any',
  /** Who is signed in; no one, without a key or session. */
  'own-session.read': 'optional',
  'sessions.open': 'any',
  'sessions.read': 'any',
  'sessions.end': 'any',
  'files.read': 'any',
  'files.change': 'any',
  'analytics.read': 'management',
  'byok.read': 'management',
  'byok.change': 'management',
  'keys.read': 'management',
  'keys.change': 'management',
  'workspaces.read': 'management',
  'workspaces.change': 'management',
  'budgets.read': 'management',
  'budgets.change': 'management',
  'members.read': 'management',
  'members.change': 'management',
  'guardrails.read': 'management',
  'guardrails.try': 'management',
  'guardrails.change': 'management',
  'destinations.read': 'management',
  'destinations.try': 'management',
  'destinations.change': 'management',
  'classifiers.read': 'management',
  'classifiers.try': 'management',
  'classifiers.change': 'management',
  'classifiers.run': 'management',
  'credits.read': 'management',
  'metrics.read': 'operator',
  'installation.read': 'operator',
  'providers.read': 'operator',
  'providers.try': 'operator',
  'providers.change': 'operator',
  'accounts.read': 'machine',
  'accounts.change': 'machine',
  'credits.change': 'machine',
  'known-models.read': 'machine',
  'known-models.change': 'machine',
  'ledger.read': 'machine',
  'ledger.rebuild': 'machine',
  'usage.import': 'machine',
  'backups.make': 'machine',
  'installation.examine': 'machine',
  'encryption.rotate': 'machine',
} as const satisfies Readonly<Record<string, KeyKind>>;

export type Permission = keyof typeof PERMISSIONS;

/** Permissions that no key gives: only commands name them. */
type MachinePermission = {
  [P in Permission]: (typeof PERMISSIONS)[P] extends 'machine' ? P : never;
}[Permission];

/** Permissions that a key can give, or that need none. */
export type KeyPermission = Exclude<Permission, MachinePermission>;

/** The caller of an endpoint, as its permission guarantees it. */
export type CallerOf<P extends KeyPermission> = {
  none: undefined;
  optional: Caller | undefined;
  any: Caller;
  inference: Caller;
  management: Caller;
  operator: Caller;
}[(typeof PERMISSIONS)[P]];

/** Refuses a caller that lacks a permission. */
export function requirePermission(
  permission: KeyPermission,
  { key }: Caller,
  /** The account that the installation began with is the operator's. */
  installation: { readonly firstAccountId: string },
): void {
  const kind: KeyKind = PERMISSIONS[permission];
  if (kind === 'inference' && key.isManagement) {
    throw new GatewayError(
      'permission',
      'Management keys cannot be used for inference: send an API key. The first start prints one, and signalbox keys create makes more',
    );
  }
  if (kind !== 'management' && kind !== 'operator') return;
  if (!key.isManagement) {
    throw new GatewayError('permission', 'Only management keys can perform this operation');
  }
  if (kind === 'operator' && key.accountId !== installation.firstAccountId) {
    throw new GatewayError(
      'permission',
      'Only management keys of the first account can see the state of the installation',
    );
  }
}
