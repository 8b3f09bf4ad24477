import Type, { type Static, type TSchema } from 'typebox';
import type { Loading } from '../config/load.ts';
import type { Permission } from '../endpoints/permissions.ts';
import { GatewayError } from '../ir/errors.ts';
import { MAX_USD, type Nanos, parseUsd } from '../kit/money.ts';
import type { Accounts } from '../manage/accounts/accounts.ts';
import type { Credits } from '../manage/accounts/credits.ts';
import type { Byok } from '../manage/byok/byok.ts';
import type { Vault } from '../manage/byok/vault.ts';
import type { GatewayProviders } from '../manage/gateway-providers/gateway-providers.ts';
import type { GuardrailAssignments } from '../manage/guardrails/assignments.ts';
import type { Guardrails } from '../manage/guardrails/guardrails.ts';
import type { Keys } from '../manage/keys/keys.ts';
import type { Members } from '../manage/members/members.ts';
import type { Sources } from '../manage/sources.ts';
import type { UsageImports } from '../manage/usage-import/usage-imports.ts';
import type { Budgets } from '../manage/workspaces/budgets.ts';
import type { Workspaces } from '../manage/workspaces/workspaces.ts';
import type { EventFeed, EventStore } from '../ports/events/events.ts';
import type { GenerationStore } from '../ports/generations/generations.ts';
import type { StoreServers } from '../ports/installation/store-facts.ts';
import type { Ledger } from '../ports/money/ledger.ts';
import type { BucketView } from './bucket-view.ts';
import type { CatalogServices } from './catalog-view.ts';
import type { RunningState } from './doctor-view.ts';
import type { ProviderView } from './provider-view.ts';
import type { TailGenerations } from './tail.ts';

/** The services that commands use: of a running gateway, or of a data directory opened for one command. */
export interface CommandServices extends CatalogServices {
  readonly accounts: Accounts;
  readonly credits: Credits;
  readonly workspaces: Workspaces;
  readonly budgets: Budgets;
  readonly members: Members;
  readonly byok: Byok;
  readonly gatewayProviders: GatewayProviders;
  readonly guardrails: Guardrails;
  readonly guardrailAssignments: GuardrailAssignments;
  readonly keys: Keys;
  readonly ledger: Pick<Ledger, 'verify' | 'rebuild' | 'isAvailable' | 'disk' | 'lag' | 'spendingOf'>;
  readonly generationStore: Pick<GenerationStore, 'writtenOff'>;
  readonly eventStore: Pick<EventStore, 'sizes' | 'copyTo'>;
  /** Backups that are being made. */
  readonly backups: { eventsFileOf(name: string): string | undefined };
  readonly eventFeed: EventFeed;
  /** True if accounts, keys and the ledger are in PostgreSQL. */
  readonly hasSharedDatabase: boolean;
  /** For operators: which database does not answer, and its error code. Undefined for other errors. */
  databaseProblem(error: unknown): string | undefined;
  readonly usageImports: UsageImports;
  readonly vault: Vault;
  readonly sources: Pick<Sources, 'clock'>;
  /** Set in a serving process. */
  readonly running?: (() => Promise<RunningState>) | undefined;
  /** Set in a serving process. */
  readonly tail?: TailGenerations | undefined;
  readonly serving?: ServingState | undefined;
}

/** Facts that only a serving process has, for `doctor`. */
export interface ServingState {
  /** Calls every provider. */
  providers(): Promise<readonly ProviderView[]>;
  /** Reads the configuration file again, without using it. */
  readConfiguration(): Promise<Loading>;
  /** Reads from the bucket of files; null without one. */
  bucket(): Promise<BucketView | null>;
  /** The servers that the process uses. */
  readonly stores: StoreServers;
}

/** A command: what it needs a permission for, the schema of its input, and what it does. */
export interface Command<Input extends TSchema, Output> {
  /** The user of the machine has all of them. */
  readonly permission: Permission;
  readonly input: Input;
  run(services: CommandServices, input: Static<Input>): Promise<Output>;
}

/** Infers the types of a command from its schema. */
export function command<Input extends TSchema, Output>(
  permission: Permission,
  input: Input,
  run: Command<Input, Output>['run'],
): Command<Input, Output> {
  return { permission, input, run };
}

export const text = Type.String({ maxLength: 1024 });
/** Name of an account; default: the first one, or all in lists. */
export const oneAccount = Type.Optional(text);

/** An amount in USD as typed; null for `none`. `name`: what a refusal calls it. */
export function parseAmount(typed: string, name = 'USD'): Nanos | null {
  if (typed === 'none') return null;
  const nanos = parseUsd(typed);
  if (nanos !== undefined) return nanos;
  throw new GatewayError(
    'invalid-request',
    `${name}: must be an amount from 0 to ${MAX_USD}, such as 12.5, or none`,
  );
}
