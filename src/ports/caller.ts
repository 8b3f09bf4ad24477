import type { Key } from './tenancy.ts';

/** Whoever is behind a request, once authenticated. */
export interface Caller {
  readonly key: Key;
  readonly accountId: string;
  readonly workspaceId: string;
}
