import type { JsonObject } from '../../kit/json/json.ts';
import type { FileMember } from '../tenancy.ts';

/** Where generations of a workspace are sent. */
export interface Destination {
  /** UUID. */
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** A row of the table of types. */
  readonly type: string;
  readonly name: string;
  /** What its type needs besides secrets. */
  readonly config: JsonObject;
  /** Secrets as one encrypted JSON object by their paths in the configuration; null = it has none. */
  readonly encryptedSecrets: string | null;
  /** How the secrets are shown, by the same paths. */
  readonly secretLabels: Readonly<Record<string, string>>;
  /** Counts the secrets that it has had. */
  readonly version: number;
  readonly isEnabled: boolean;
  /** Prompts and answers are not sent. */
  readonly privacyMode: boolean;
  /** Share of sessions that are sent, above 0 to 1. */
  readonly samplingRate: number;
  /** Null = those of all keys. */
  readonly apiKeyHashes: readonly string[] | null;
  readonly filterRules: FilterRules | null;
  readonly sendsCost: boolean;
  readonly sendsIdentity: boolean;
  readonly sendsRequestContext: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
}

/** Which generations are sent: those that any group accepts. */
export interface FilterRules {
  readonly isEnabled: boolean;
  readonly groups: readonly FilterGroup[];
}

export interface FilterGroup {
  readonly logic: 'and' | 'or';
  readonly rules: readonly FilterRule[];
}

export interface FilterRule {
  /** A member of a generation that rules may name. */
  readonly field: string;
  readonly operator: string;
  readonly value: string | number | boolean | readonly (string | number)[] | null;
}

export type DestinationEdit = Partial<
  Omit<Destination, 'id' | 'accountId' | 'workspaceId' | 'type' | 'createdAtMs' | 'updatedAtMs'>
>;

/** Storage of destinations. */
export interface DestinationStore {
  /** Does nothing if the id exists. Resolves with what is stored. */
  insert(destination: Destination): Promise<Destination>;
  find(accountId: string, id: string): Promise<Destination | undefined>;
  /** The oldest first; null = of all workspaces of the account. */
  list(
    accountId: string,
    workspaceId: string | null,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly destinations: readonly Destination[]; readonly total: number }>;
  /** Of all accounts. */
  listAll(): Promise<readonly Destination[]>;
  /** `decide` may throw to refuse. Undefined if there is none. */
  update(
    accountId: string,
    id: string,
    decide: (current: Destination) => DestinationEdit,
    atMs: number,
  ): Promise<Destination | undefined>;
  /** False if there is none. */
  delete(accountId: string, id: string): Promise<boolean>;
}
