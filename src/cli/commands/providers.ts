import type { Flags } from '../../config/runtime.ts';
import type { CommandInput, CommandOutput } from '../../control/commands.ts';
import type { AddedProviderView, ProvidersView } from '../../control/provider-commands.ts';
import { CommandRefused } from '../../control/send-command.ts';
import { compact } from '../../kit/json/members.ts';
import { countText } from '../../kit/text/count-text.ts';
import { durationText } from '../../kit/text/quantities.ts';
import { type Run, requireChange, textFlag } from '../read-flags.ts';
import { readOptionalSecret, readSecret } from '../read-secret.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';
import { chosenModels, listOf } from './provider-models.ts';

type ProviderTestObject = CommandOutput<'providers.test'>;
type AddInput = CommandInput<'providers.add'>;
type Change = CommandInput<'providers.update'>['change'];

export async function listProviders(flags: Flags): Promise<CommandResult<ProvidersView>> {
  const result = await runControlCommand(flags, 'providers.list', {});
  const { added, configured } = result;
  if (added.length + configured.length === 0)
    return { result, text: `There are no providers. ${HOW_TO_ADD}\n` };
  const rows = [
    ...configured.map(({ slug, set_by }) => [slug, set_by, '-', '-', '-', '-']),
    ...added.map(rowOf),
  ];
  return { result, text: tableText(HEAD, rows) };
}

const HOW_TO_ADD = 'Add one: signalbox providers add anthropic';

const HEAD = ['PROVIDER', 'SET BY', 'STATE', 'KEY', 'MODELS', 'WORKSPACES'];

function rowOf({ slug, set_by, disabled, label, models, base_url, workspaces }: AddedProviderView): string[] {
  const state = set_by === null ? (disabled ? 'disabled' : 'served') : `inactive: the ${set_by} sets ${slug}`;
  const own = models.map(({ id }) => id).join(', ');
  return [
    slug,
    'stored',
    state,
    label ?? 'none',
    base_url === null ? `all known${own && `, ${own}`}` : own || 'none yet',
    workspaces?.join(', ') ?? 'all',
  ];
}

/** What a command shows of a provider and its test. */
interface ProviderResult {
  readonly provider: AddedProviderView;
  readonly test: ProviderTestObject | null;
}

/** Tests a provider, and stores it if that passes. */
export async function addProvider(
  flags: Flags,
  slug: string,
  line: Run,
): Promise<CommandResult<ProviderResult>> {
  const key = await readOptionalSecret(`key of ${slug}, Enter for none`, textFlag(line, 'secret-env'));
  const place = compact({
    dialect: textFlag(line, 'dialect') as AddInput['provider']['dialect'],
    base_url: textFlag(line, 'base-url'),
  });
  const asked = { slug, ...place, ...(key !== undefined && { key }) };
  const test = await runControlCommand(flags, 'providers.test', asked);
  if (!test.passed && test.is_testable && line.flags.untested !== true) {
    throw new CommandRefused(`${testText(slug, test)}Nothing was stored; --untested stores it all the same`);
  }
  const models = chosenModels({
    chosen: textFlag(line, 'models'),
    prices: textFlag(line, 'prices'),
    current: [],
    listed: test.models,
  });
  const workspaces = listOf(textFlag(line, 'workspaces'));
  const provider = await runControlCommand(flags, 'providers.add', {
    provider: { ...asked, ...compact({ name: textFlag(line, 'name'), models }) },
    ...(workspaces.length > 0 && { workspaces: [...workspaces] }),
  });
  return { result: { provider, test }, text: `${testText(slug, test)}${providerText(provider, test)}` };
}

/** Asks a provider for its models with the key that it has. */
export async function testProvider(flags: Flags, slug: string): Promise<CommandResult<ProviderTestObject>> {
  const result = await runControlCommand(flags, 'providers.test', { slug });
  const rows = result.models.map(({ model, id, context_length: length }) => [
    model,
    id,
    String(length ?? '-'),
  ]);
  const table = rows.length === 0 ? '' : `\n${tableText(['MODEL', 'OFFERED AS', 'CONTEXT'], rows)}`;
  return {
    result,
    text: `${testText(slug, result)}${table}`,
    hasFailed: !result.passed && result.is_testable,
  };
}

/** Changes a provider that was added. Models that it lists are asked for only if they are to change. */
export async function updateProvider(
  flags: Flags,
  slug: string,
  line: Run,
): Promise<CommandResult<AddedProviderView>> {
  const [chosen, prices] = [textFlag(line, 'models'), textFlag(line, 'prices')];
  const variable = textFlag(line, 'secret-env');
  const isKeyNew = line.flags['new-key'] === true || variable !== undefined;
  const place = compact({
    dialect: textFlag(line, 'dialect') as Change['dialect'],
    base_url: textFlag(line, 'base-url'),
    name: textFlag(line, 'name'),
  });
  const workspaces = workspacesOf(line);
  requireChange({ ...place, chosen, prices, workspaces, key: isKeyNew || undefined }, line);
  const key = isKeyNew ? await readSecret(`new key of ${slug}`, variable) : undefined;
  const { name, ...asked } = place;
  const models =
    chosen === undefined && prices === undefined
      ? undefined
      : chosenModels({
          chosen,
          prices,
          current: (await addedProvider(flags, slug)).models,
          listed: await listedModels(flags, { slug, ...asked, ...(key !== undefined && { key }) }, chosen),
        });
  const result = await runControlCommand(flags, 'providers.update', {
    slug,
    change: compact({ ...place, models, key }),
    ...(workspaces !== undefined && { workspaces }),
  });
  return { result, text: providerText(result, null) };
}

async function addedProvider(flags: Flags, slug: string): Promise<AddedProviderView> {
  const { added } = await runControlCommand(flags, 'providers.list', {});
  const found = added.find((each) => each.slug === slug);
  if (found !== undefined) return found;
  throw new CommandRefused(`${slug} was not added; signalbox providers list shows the providers`);
}

/** What a provider lists, for its names and lengths. Only `all` needs the list. */
async function listedModels(flags: Flags, asked: CommandInput<'providers.test'>, chosen: string | undefined) {
  if (chosen === undefined) return [];
  const test = await runControlCommand(flags, 'providers.test', asked);
  if (chosen === 'all' && !test.passed) throw new CommandRefused(testText(asked.slug, test).trimEnd());
  return test.models;
}

/** Slugs; null = all workspaces; undefined = they stay. */
function workspacesOf(line: Run): string[] | null | undefined {
  const named = listOf(textFlag(line, 'workspaces'));
  const isForAll = line.flags['all-workspaces'] === true;
  if (isForAll && named.length > 0) {
    throw new CommandRefused('--workspaces and --all-workspaces: give one of them');
  }
  if (isForAll) return null;
  return named.length > 0 ? [...named] : undefined;
}

export async function switchProvider(
  flags: Flags,
  slug: string,
  change: Pick<Change, 'disabled'>,
): Promise<CommandResult<AddedProviderView>> {
  const result = await runControlCommand(flags, 'providers.update', { slug, change });
  return { result, text: providerText(result, null) };
}

export async function removeProvider(flags: Flags, slug: string): Promise<CommandResult<AddedProviderView>> {
  const result = await runControlCommand(flags, 'providers.remove', { slug });
  return { result, text: `${slug} is removed, and its key is wiped.\n` };
}

function testText(slug: string, test: ProviderTestObject): string {
  const { passed, is_testable, is_key_proven, status, message, milliseconds } = test;
  const took = `in ${durationText(milliseconds)}`;
  if (!is_testable) return `${slug} was not asked: ${message}.\n`;
  if (status === null) return `${slug} did not answer: ${message}.\n`;
  if (!passed) return `${slug} answered ${status} ${took}: ${message}\n`;
  const proof = is_key_proven === false ? ' It lists them without a key too, so the key is not proven.' : '';
  return `${slug} answered ${status} ${took} and lists ${listText(test)}.${proof}\n`;
}

const SHOWN_NAMES = 20;

/** The names of the first models that a provider lists. */
function namesText({ models }: ProviderTestObject): string {
  const names = models.slice(0, SHOWN_NAMES).map(({ model }) => model);
  const others = models.length - names.length;
  return `${names.join(', ') || 'none'}${others === 0 ? '' : ` and ${countText(others, 'other')}`}`;
}

/** How many models a provider lists, and how many of them are shown. */
function listText({ models, listed_models, is_list_cut }: ProviderTestObject): string {
  const listed = `${is_list_cut ? 'more than ' : ''}${countText(listed_models ?? 0, 'model')}`;
  const isLong = (listed_models ?? 0) > models.length;
  return isLong || is_list_cut ? `${listed}, of which the first ${models.length} are taken` : listed;
}

function providerText(provider: AddedProviderView, test: ProviderTestObject | null): string {
  const { slug, base_url: address, models } = provider;
  const table = tableText(HEAD, [rowOf(provider)]);
  const free = models.filter(({ pricing }) => Number(pricing.prompt) + Number(pricing.completion) === 0);
  const notes = [
    ...(address !== null && models.length === 0
      ? [`It serves no model yet. Choose: signalbox providers update ${slug} --models all`]
      : []),
    ...(test !== null && address !== null && models.length === 0 ? [`It lists: ${namesText(test)}`] : []),
    ...(free.length > 0
      ? [`Free, because they have no price (--prices sets one): ${free.map(({ id }) => id).join(', ')}`]
      : []),
  ];
  return [table, ...notes.map((note) => `${note}\n`)].join('');
}
