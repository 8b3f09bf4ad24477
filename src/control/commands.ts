import Type, { type Static, type TSchema } from 'typebox';
import type { Loading } from '../config/load.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { closed, oneOf } from '../kit/json/schema.ts';
import { compileValidator } from '../kit/json/validate.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import { MAX_USD, type Nanos, parseUsd } from '../kit/money.ts';
import { RESET_WINDOWS } from '../kit/time/windows.ts';
import type { Accounts } from '../manage/accounts/accounts.ts';
import type { Credits } from '../manage/accounts/credits.ts';
import type { Vault } from '../manage/byok/vault.ts';
import type { OperatorKeys } from '../manage/keys/operator-keys.ts';
import {
  type ConfiguredCatalog,
  filteredModels,
  findModel,
  type ListedModel,
  listedModels,
  type ModelFilter,
} from '../manage/models/listed-models.ts';
import type { ModelKnowledge, RefreshOutcome } from '../manage/models/model-knowledge.ts';
import { ledgerOr503 } from '../manage/refusals.ts';
import type { UsageImports } from '../manage/usage-import/usage-imports.ts';
import type { UsageScopes } from '../manage/usage-import/usage-owners.ts';
import type { EventFeed, EventStore } from '../ports/events.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Key } from '../ports/tenancy.ts';
import { type ConfigurationView, configurationView } from './configuration-view.ts';
import { type DoctorView, doctorView, type RunningState } from './doctor-view.ts';
import { type LedgerView, ledgerView, type RebuildView } from './ledger-view.ts';
import type { ProviderView } from './provider-view.ts';
import type { TailGenerations } from './tail.ts';
import {
  type AccountView,
  accountView,
  type CreditsView,
  creditsView,
  type ImportedView,
  type IssuedKeyView,
  importedView,
  type KeyView,
  keyView,
  type ListedModelView,
  listedModelView,
  type NewAccountView,
  type RotationView,
  rotationView,
} from './views.ts';

/** The services that commands use: of a running gateway, or of a data directory opened for one command. */
export interface CommandServices {
  readonly accounts: Accounts;
  readonly credits: Credits;
  readonly keys: OperatorKeys;
  readonly ledger: Pick<Ledger, 'verify' | 'rebuild' | 'isAvailable' | 'disk' | 'lag'>;
  readonly eventStore: Pick<EventStore, 'sizes' | 'copyTo'>;
  /** Backups that are being made. */
  readonly backups: { eventsFileOf(name: string): string | undefined };
  readonly eventFeed: EventFeed;
  /** True if accounts, keys and the ledger are in PostgreSQL. */
  readonly hasSharedDatabase: boolean;
  readonly modelKnowledge: ModelKnowledge;
  /** Providers and models of the configuration; set in a serving process. */
  readonly configured?: (() => ConfiguredCatalog) | undefined;
  readonly usageImports: UsageImports;
  readonly vault: Vault;
  /** Set in a serving process. */
  readonly running?: (() => RunningState) | undefined;
  /** Set in a serving process. */
  readonly tail?: TailGenerations | undefined;
  readonly serving?: ServingState | undefined;
}

/** What only a serving process knows, for `doctor`. */
export interface ServingState {
  /** Calls every provider. */
  providers(): Promise<readonly ProviderView[]>;
  /** Reads the configuration file again, without using it. */
  readConfiguration(): Promise<Loading>;
}

interface Command<Input extends TSchema, Output> {
  readonly input: Input;
  run(services: CommandServices, input: Static<Input>): Promise<Output>;
}

function command<Input extends TSchema, Output>(
  input: Input,
  run: Command<Input, Output>['run'],
): Command<Input, Output> {
  return { input, run };
}

const text = Type.String({ maxLength: 1024 });
const oneAccount = Type.Optional(text);

/** The commands that run with and without a running gateway; no others are accepted on the socket. */
export const COMMANDS = {
  'keys.create': command(
    closed({
      name: text,
      account: oneAccount,
      workspace: Type.Optional(text),
      management: Type.Optional(Type.Boolean()),
      limit: Type.Optional(text),
      limit_reset: Type.Optional(oneOf(RESET_WINDOWS)),
      include_byok: Type.Optional(Type.Boolean()),
    }),
    async (services, input): Promise<IssuedKeyView> => {
      const { management, limit_reset: limitReset, include_byok: includeByokInLimit, ...wanted } = input;
      const { key, secret } = await services.keys.create({
        ...wanted,
        isManagement: management,
        limitReset,
        includeByokInLimit,
      });
      const [view] = await keyViews(services, [key]);
      if (view === undefined) throw new Error('a key that was made is not there');
      return { key: secret, ...view };
    },
  ),
  'keys.list': command(
    closed({ account: oneAccount }),
    async (services, { account }): Promise<KeyView[]> =>
      keyViews(services, await services.keys.list(account)),
  ),
  'keys.revoke': command(
    closed({ hash: text, account: oneAccount }),
    async ({ accounts, keys }, { hash, account }): Promise<KeyView> =>
      keyView(await keys.revoke(hash, account), await accounts.list()),
  ),
  'credits.set': command(
    closed({ left: text, account: oneAccount }),
    async ({ accounts, credits }, { left, account }): Promise<CreditsView> => {
      const leftNanos = parseBalance(left);
      const owner = await accounts.require(account);
      return creditsView(owner, await credits.set(owner.id, leftNanos));
    },
  ),
  'credits.show': command(
    closed({ account: oneAccount }),
    async ({ accounts, credits }, { account }): Promise<CreditsView> => {
      const owner = await accounts.require(account);
      return creditsView(owner, await credits.of(owner.id));
    },
  ),
  'accounts.create': command(
    closed({ name: text }),
    async ({ keys, accounts }, { name }): Promise<NewAccountView> => {
      // Creates the default account first, so that on a new installation the new one is not taken for it.
      await accounts.ensureFirst();
      const account = await accounts.create(name);
      const { secret } = await keys.create({
        name: 'First management key',
        account: name,
        isManagement: true,
      });
      return { ...accountView(account), management_key: secret };
    },
  ),
  'accounts.list': command(closed({}), async ({ accounts }): Promise<AccountView[]> => {
    return (await accounts.list()).map(accountView);
  }),
  'catalog.refresh': command(
    closed({
      data: Type.Unknown(),
      prune: Type.Boolean(),
      apply: Type.Boolean(),
      state: Type.Optional(text),
    }),
    async ({ modelKnowledge }, { data, ...options }): Promise<RefreshOutcome> =>
      modelKnowledge.refresh(data, options),
  ),
  'catalog.list': command(
    closed({
      provider: Type.Optional(text),
      search: Type.Optional(text),
      free: Type.Optional(Type.Boolean()),
      available: Type.Optional(Type.Boolean()),
      parameter: Type.Optional(text),
      modality: Type.Optional(text),
    }),
    listCatalog,
  ),
  'catalog.show': command(closed({ model: text }), showModel),
  'ledger.verify': command(
    closed({}),
    async ({ accounts, ledger }): Promise<LedgerView> =>
      ledgerView(await ledgerOr503(ledger.verify()), await accounts.list()),
  ),
  'ledger.rebuild': command(
    closed({}),
    async ({ ledger, eventFeed }): Promise<RebuildView> => ({
      generations: await ledgerOr503(ledger.rebuild()),
      events: await eventFeed.refill(),
    }),
  ),
  'usage.scopes': command(
    closed({ account: oneAccount }),
    async ({ usageImports }, { account }): Promise<UsageScopes> => usageImports.scopesOf(account),
  ),
  'usage.import': command(
    closed({ place: text }),
    async ({ usageImports }, { place }): Promise<ImportedView> =>
      importedView(await usageImports.takeIn(place)),
  ),
  /** Answers without the database, so that a backup can be made while PostgreSQL is away. */
  'backup.state': command(
    closed({}),
    async ({ hasSharedDatabase }): Promise<{ state: 'embedded' | 'postgresql' }> => ({
      state: hasSharedDatabase ? 'postgresql' : 'embedded',
    }),
  ),
  'backup.events': command(
    closed({ place: text }),
    async ({ backups, eventStore }, { place }): Promise<{ has_events: boolean }> => {
      const file = backups.eventsFileOf(place);
      if (file === undefined) throw new GatewayError('invalid-request', 'place: there is no such backup');
      return { has_events: await eventStore.copyTo(file) };
    },
  ),
  'doctor.inspect': command(closed({}), async (services): Promise<DoctorView> => doctorView(services)),
  /** Null if the process does not serve. */
  'doctor.providers': command(
    closed({}),
    async ({ serving }): Promise<readonly ProviderView[] | null> => (await serving?.providers()) ?? null,
  ),
  'doctor.configuration': command(
    closed({}),
    async ({ serving }): Promise<ConfigurationView | null> =>
      serving === undefined ? null : configurationView(await serving.readConfiguration()),
  ),
  'encryption.rotate': command(
    closed({ new_key: Type.Optional(text) }),
    async ({ vault }, { new_key: newKey }): Promise<RotationView> => rotationView(await vault.rotate(newKey)),
  ),
} as const;

export type CommandName = keyof typeof COMMANDS;
export type CommandInput<Name extends CommandName> = Static<(typeof COMMANDS)[Name]['input']>;
export type CommandOutput<Name extends CommandName> = Awaited<ReturnType<(typeof COMMANDS)[Name]['run']>>;

export function isCommandName(name: unknown): name is CommandName {
  return typeof name === 'string' && Object.hasOwn(COMMANDS, name);
}

/** Checks the input and runs the command. Rejects with a GatewayError for problems that the operator can solve. */
export async function runCommand<Name extends CommandName>(
  services: CommandServices,
  name: Name,
  input: unknown,
): Promise<CommandOutput<Name>> {
  const chosen = COMMANDS[name] as unknown as Command<TSchema, CommandOutput<Name>>;
  const issues = compileValidator(chosen.input).issuesOf(input);
  if (issues.length > 0) throw invalidRequest(issues);
  return chosen.run(services, input);
}

/** What `catalog show` needs of the services. */
export type CatalogServices = Pick<CommandServices, 'modelKnowledge' | 'configured'>;

/** The models that a filter leaves. */
export async function listCatalog(
  services: CatalogServices,
  filter: ModelFilter,
): Promise<ListedModelView[]> {
  return filteredModels(await modelsOf(services), filter).map(listedModelView);
}

/** One model with its endpoints. */
export async function showModel(
  services: CatalogServices,
  { model }: { readonly model: string },
): Promise<ListedModel> {
  return findModel(await modelsOf(services), model);
}

/** All models, known and configured. */
async function modelsOf({ modelKnowledge, configured }: CatalogServices): Promise<ListedModel[]> {
  const settings = configured?.() ?? { providers: [], models: [] };
  return runInTurns(listedModels(await modelKnowledge.all(), settings, Date.now()));
}

async function keyViews({ accounts, keys }: CommandServices, wanted: readonly Key[]): Promise<KeyView[]> {
  const owners = await accounts.list();
  return (await keys.statementsOf(wanted)).map((statement) => keyView(statement, owners));
}

/** The balance to set; null = not enforced. */
function parseBalance(typed: string): Nanos | null {
  if (typed === 'none') return null;
  const nanos = parseUsd(typed);
  if (nanos !== undefined) return nanos;
  throw new GatewayError(
    'invalid-request',
    `USD: must be an amount from 0 to ${MAX_USD}, such as 12.5, or none`,
  );
}
