import type { JsonObject } from '../../kit/json/json.ts';
import type { EncryptedSecret, SecretStore } from '../tenancy/byok.ts';
import type { FileMember, Page } from '../tenancy/tenancy.ts';
import type { FollowerNote } from './follower-notes.ts';

export const DESTINATION_TYPE_NAMES = [
  'arize',
  'braintrust',
  'clickhouse',
  'datadog',
  'grafana',
  'langfuse',
  'langsmith',
  'newrelic',
  'opik',
  'otel-collector',
  'posthog',
  's3',
  'sentry',
  'weave',
  'webhook',
] as const;

export type DestinationTypeName = (typeof DESTINATION_TYPE_NAMES)[number];

/** Bounds of destinations, over the API and in the configuration file. */
export const DESTINATION_LIMITS = {
  /** Destinations of one type in a workspace. */
  ofType: 5,
  nameCharacters: 255,
  keys: 100,
  filterGroups: 10,
  rulesInGroup: 20,
  ruleValueCharacters: 4096,
} as const;

export const FILTER_FIELD_NAMES = [
  'model',
  'provider',
  'session_id',
  'user_id',
  'api_key_name',
  'finish_reason',
  'input',
  'output',
  'total_cost',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
] as const;

export const FILTER_OPERATOR_NAMES = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'regex',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'gte',
  'lte',
  'exists',
  'not_exists',
] as const;

/** Where generations of a workspace are sent. */
export interface Destination {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** A row of the table of types. */
  readonly type: string;
  readonly name: string;
  /** What its type needs besides secrets. */
  readonly config: JsonObject;
  /** Secrets as one encrypted JSON object by their paths (`apiKey`, `headers.authorization`); null = it has none. */
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

export type DestinationState = Pick<
  FollowerNote,
  'taken' | 'dropped' | 'waiting' | 'problem' | 'problemSinceMs'
>;

/** A destination with how sending to it goes; null = it is not sent anything yet. */
export interface StatedDestination extends Destination {
  readonly state: DestinationState | null;
}

export function destinationFollowerId({ id }: Pick<Destination, 'id'>): string {
  return `destination/${id}`;
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
  readonly field: string;
  readonly operator: string;
  /** Null for operators that compare with nothing. */
  readonly value: string | number | null;
}

/** Fields of rules that are prompts and answers. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set(['input', 'output']);

/** Whether prompts and answers are kept for a destination while it is enabled: it sends or filters by them. */
export function readsContent({
  privacyMode,
  filterRules,
}: Pick<Destination, 'privacyMode' | 'filterRules'>): boolean {
  if (!privacyMode) return true;
  if (filterRules === null || !filterRules.isEnabled) return false;
  return filterRules.groups.some(({ rules }) => rules.some(({ field }) => CONTENT_FIELDS.has(field)));
}

/** What the secrets of a destination are bound to beside its id and account, like a credential to its provider. */
export function destinationProvider(type: string): string {
  return `${PROVIDER_PREFIX}${type}`;
}

export function isOfDestination({ provider }: Pick<EncryptedSecret, 'provider'>): boolean {
  return provider.startsWith(PROVIDER_PREFIX);
}

const PROVIDER_PREFIX = 'destination:';

export type DestinationEdit = Partial<
  Omit<Destination, 'id' | 'accountId' | 'workspaceId' | 'type' | 'createdAtMs' | 'updatedAtMs'>
>;

export interface DestinationStore extends SecretStore {
  /**
   * Stores a destination unless its id is known, or its workspace has `mostOfType` of its type already: then resolves
   * with `full`. Resolves with what is stored otherwise.
   */
  insert(destination: Destination, mostOfType: number): Promise<Destination | 'full'>;
  find(accountId: string, id: string): Promise<Destination | undefined>;
  /** The oldest first; null = of all workspaces of the account. `total` counts all. */
  list(
    accountId: string,
    workspaceId: string | null,
    page: Page,
  ): Promise<{ readonly destinations: readonly Destination[]; readonly total: number }>;
  /** Destinations of all accounts, oldest first. */
  listAll(): Promise<readonly Destination[]>;
  /** Undefined if there is none. If `decide` throws, nothing changes. */
  update(
    accountId: string,
    id: string,
    decide: (current: Destination) => DestinationEdit,
    atMs: number,
  ): Promise<Destination | undefined>;
  /** Deletes a destination with its secrets. False if there is none. */
  delete(accountId: string, id: string): Promise<boolean>;
}
