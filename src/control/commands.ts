import Type, { type Static, type TSchema } from 'typebox';
import { NEW_KEY, updateKeySchema } from '../contract/keys/key.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { closed } from '../kit/json/schema.ts';
import { compileValidator } from '../kit/json/validate.ts';
import type { RefreshOutcome } from '../manage/models/model-knowledge.ts';
import { ledgerOr503 } from '../manage/refusals.ts';
import type { UsageScopes } from '../manage/usage-import/usage-owners.ts';
import type {
  ClickhouseFacts,
  Examined,
  PostgresFacts,
  RedisFacts,
} from '../ports/installation/store-facts.ts';
import type { Key } from '../ports/tenancy/tenancy.ts';
import type { BucketView } from './bucket-view.ts';
import { BUDGET_COMMANDS } from './budget-commands.ts';
import { BYOK_COMMANDS } from './byok-commands.ts';
import { listCatalog, showModel } from './catalog-view.ts';
import { type Command, type CommandServices, command, oneAccount, parseAmount, text } from './command.ts';
import { type ConfigurationView, configurationView } from './configuration-view.ts';
import { type DoctorView, doctorView } from './doctor-view.ts';
import { GUARDRAIL_COMMANDS } from './guardrail-commands.ts';
import { type LedgerView, ledgerView, type RebuildView } from './ledger-view.ts';
import { MEMBER_COMMANDS } from './member-commands.ts';
import { PROVIDER_COMMANDS } from './provider-commands.ts';
import type { ProviderView } from './provider-view.ts';
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
  type NewAccountView,
  type RotationView,
  rotationView,
} from './views.ts';
import { ownedWorkspaces, WORKSPACE_COMMANDS } from './workspace-commands.ts';

/** The commands that run with and without a running gateway; no others are accepted on the socket. */
export const COMMANDS = {
  ...WORKSPACE_COMMANDS,
  ...GUARDRAIL_COMMANDS,
  ...BUDGET_COMMANDS,
  ...MEMBER_COMMANDS,
  ...BYOK_COMMANDS,
  ...PROVIDER_COMMANDS,
  'keys.create': command(
    'keys.change',
    closed({
      ...NEW_KEY,
      account: oneAccount,
      workspace: Type.Optional(text),
      management: Type.Optional(Type.Boolean()),
      /** A member, by id or address. */
      owner: Type.Optional(text),
    }),
    async (services, { management: isManagement, owner, ...wanted }): Promise<IssuedKeyView> => {
      const creatorUserId = await memberIdOf(services, wanted.account, owner);
      const { key, secret } = await services.keys.issue({ ...wanted, isManagement, creatorUserId });
      const [view] = await keyViews(services, [key]);
      if (view === undefined) throw new Error('a key that was made is not there');
      return { key: secret, ...view };
    },
  ),
  'keys.list': command(
    'keys.read',
    closed({ account: oneAccount }),
    async (services, { account }): Promise<KeyView[]> =>
      keyViews(services, await services.keys.listAll(account)),
  ),
  'keys.show': command(
    'keys.read',
    closed({ hash: text, account: oneAccount }),
    async (services, { hash, account }): Promise<KeyView> =>
      keyView(await services.keys.getNamed(hash, account), await ownedWorkspaces(services, account)),
  ),
  'keys.revoke': command(
    'keys.change',
    closed({ hash: text, account: oneAccount }),
    async (services, { hash, account }): Promise<KeyView> =>
      keyView(await services.keys.revoke(hash, account), await ownedWorkspaces(services, account)),
  ),
  'keys.update': command(
    'keys.change',
    closed({ hash: text, account: oneAccount, change: updateKeySchema }),
    async (services, { hash, account, change }): Promise<KeyView> => {
      const statement = await services.keys.updateNamed(hash, change, account);
      return keyView(statement, await ownedWorkspaces(services, account));
    },
  ),
  'credits.set': command(
    'credits.change',
    closed({ left: text, account: oneAccount }),
    async ({ accounts, credits }, { left, account }): Promise<CreditsView> => {
      const leftNanos = parseAmount(left);
      const owner = await accounts.require(account);
      return creditsView(owner, await credits.set(owner.id, leftNanos));
    },
  ),
  'credits.show': command(
    'credits.read',
    closed({ account: oneAccount }),
    async ({ accounts, credits }, { account }): Promise<CreditsView> => {
      const owner = await accounts.require(account);
      return creditsView(owner, await credits.of(owner.id));
    },
  ),
  'accounts.create': command(
    'accounts.change',
    closed({ name: text }),
    async ({ keys, accounts }, { name }): Promise<NewAccountView> => {
      // Creates the default account first, so that on a new installation the new one is not taken for it.
      await accounts.ensureFirst();
      const account = await accounts.create(name);
      const { secret } = await keys.issue({
        name: 'First management key',
        account: name,
        isManagement: true,
      });
      return { ...accountView(account), management_key: secret };
    },
  ),
  'accounts.list': command('accounts.read', closed({}), async ({ accounts }): Promise<AccountView[]> => {
    return (await accounts.list()).map(accountView);
  }),
  'catalog.refresh': command(
    'known-models.change',
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
    'known-models.read',
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
  'catalog.show': command('known-models.read', closed({ model: text }), showModel),
  'ledger.verify': command(
    'ledger.read',
    closed({}),
    async ({ accounts, ledger, generationStore }): Promise<LedgerView> =>
      ledgerView(
        await ledgerOr503(ledger.verify()),
        await accounts.list(),
        await generationStore.writtenOff({}),
      ),
  ),
  'ledger.rebuild': command(
    'ledger.rebuild',
    closed({}),
    async ({ ledger, eventFeed }): Promise<RebuildView> => ({
      generations: await ledgerOr503(ledger.rebuild()),
      events: await eventFeed.refill(),
    }),
  ),
  'usage.scopes': command(
    'usage.import',
    closed({ account: oneAccount }),
    async ({ usageImports }, { account }): Promise<UsageScopes> => usageImports.scopesOf(account),
  ),
  'usage.import': command(
    'usage.import',
    closed({ place: text }),
    async ({ usageImports }, { place }): Promise<ImportedView> =>
      importedView(await usageImports.takeIn(place)),
  ),
  /** Answers without the database, so that a backup can be made while PostgreSQL is away. */
  'backup.state': command(
    'backups.make',
    closed({}),
    async ({ hasSharedDatabase }): Promise<{ state: 'embedded' | 'postgresql' }> => ({
      state: hasSharedDatabase ? 'postgresql' : 'embedded',
    }),
  ),
  'backup.events': command(
    'backups.make',
    closed({ place: text }),
    async ({ backups, eventStore }, { place }): Promise<{ has_events: boolean }> => {
      const file = backups.eventsFileOf(place);
      if (file === undefined) throw new GatewayError('invalid-request', 'place: there is no such backup');
      return { has_events: await eventStore.copyTo(file) };
    },
  ),
  'doctor.inspect': command(
    'installation.examine',
    closed({}),
    async (services): Promise<DoctorView> => doctorView(services),
  ),
  /** Null if the process does not serve. */
  'doctor.providers': command(
    'installation.examine',
    closed({}),
    async ({ serving }): Promise<readonly ProviderView[] | null> => (await serving?.providers()) ?? null,
  ),
  'doctor.configuration': command(
    'installation.examine',
    closed({}),
    async ({ serving }): Promise<ConfigurationView | null> =>
      serving === undefined ? null : configurationView(await serving.readConfiguration()),
  ),
  /** Null if the process does not serve, or has no bucket. */
  'doctor.bucket': command(
    'installation.examine',
    closed({}),
    async ({ serving }): Promise<BucketView | null> => (await serving?.bucket()) ?? null,
  ),
  /** Null if the process does not serve, or has no such server. The same of the next two. */
  'doctor.postgres': command(
    'installation.examine',
    closed({}),
    async ({ serving }): Promise<Examined<PostgresFacts> | null> =>
      (await serving?.stores.postgres()) ?? null,
  ),
  'doctor.redis': command(
    'installation.examine',
    closed({}),
    async ({ serving }): Promise<Examined<RedisFacts> | null> => (await serving?.stores.redis()) ?? null,
  ),
  'doctor.clickhouse': command(
    'installation.examine',
    closed({}),
    async ({ serving }): Promise<Examined<ClickhouseFacts> | null> =>
      (await serving?.stores.clickhouse()) ?? null,
  ),
  'encryption.rotate': command(
    'encryption.rotate',
    closed({ new_key: Type.Optional(text) }),
    async ({ vault }, { new_key: newKey }): Promise<RotationView> => rotationView(await vault.rotate(newKey)),
  ),
} as const;

export type CommandName = keyof typeof COMMANDS;
export type CommandInput<Name extends CommandName> = Unset<Static<(typeof COMMANDS)[Name]['input']>>;

/** The optional members may be undefined: inputs go through JSON. */
type Unset<Input> = {
  [Member in keyof Input]: object extends Pick<Input, Member> ? Input[Member] | undefined : Input[Member];
};

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
  try {
    return await chosen.run(services, input);
  } catch (error) {
    const detail = services.databaseProblem(error);
    if (detail === undefined || !(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.kind, `${error.message} (${detail})`, { cause: error });
  }
}

async function memberIdOf(
  { accounts, members }: CommandServices,
  account: string | undefined,
  idOrEmail: string | undefined,
): Promise<string | null> {
  if (idOrEmail === undefined) return null;
  return (await members.getNamed((await accounts.require(account)).id, idOrEmail)).id;
}

async function keyViews(services: CommandServices, wanted: readonly Key[]): Promise<KeyView[]> {
  const owned = await ownedWorkspaces(services, undefined);
  return (await services.keys.statementsOf(wanted)).map((statement) => keyView(statement, owned));
}
