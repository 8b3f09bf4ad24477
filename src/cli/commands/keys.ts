import type { Flags } from '../../config/runtime.ts';
import type { CommandInput } from '../../control/commands.ts';
import type { IssuedKeyView, KeyView } from '../../control/views.ts';
import { countText } from '../../kit/text/count-text.ts';
import { usdText } from '../../kit/text/usd-text.ts';
import { dataDirectoryLine, runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function createKey(
  flags: Flags,
  input: CommandInput<'keys.create'>,
): Promise<CommandResult<IssuedKeyView>> {
  const result = await runControlCommand(flags, 'keys.create', input);
  const notes =
    `\n${keyTable([result])}\n` +
    `The key above is shown this once; only its hash is stored.\n${dataDirectoryLine(flags)}`;
  return { result, text: `${result.key}\n`, notes };
}

export async function listKeys(
  flags: Flags,
  input: CommandInput<'keys.list'>,
): Promise<CommandResult<KeyView[]>> {
  const result = await runControlCommand(flags, 'keys.list', input);
  return { result, text: result.length === 0 ? 'There are no keys.\n' : keyTable(result) };
}

export async function showKey(
  flags: Flags,
  input: CommandInput<'keys.show'>,
): Promise<CommandResult<KeyView>> {
  const result = await runControlCommand(flags, 'keys.show', input);
  return { result, text: factsText(result) };
}

export async function updateKey(
  flags: Flags,
  input: CommandInput<'keys.update'>,
): Promise<CommandResult<KeyView>> {
  const result = await runControlCommand(flags, 'keys.update', input);
  return { result, text: keyTable([result]) };
}

export async function revokeKey(
  flags: Flags,
  input: CommandInput<'keys.revoke'>,
): Promise<CommandResult<KeyView>> {
  const result = await runControlCommand(flags, 'keys.revoke', input);
  return { result, text: `${keyTable([result])}\nThis key is revoked.\n` };
}

/** What is said of a key, in the order of the list. */
const FACTS: readonly (readonly [title: string, text: (key: KeyView) => string])[] = [
  ['NAME', ({ name }) => name],
  ['KIND', (key) => (key.is_management_key ? 'management' : 'plain')],
  ['LABEL', ({ label }) => label],
  ['ACCOUNT', ({ account }) => account],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['STATE', stateText],
  ['LIMIT', limitText],
  ['USED', (key) => (key.is_management_key ? '-' : usdText(key.usage))],
  ['MODELS', (key) => (key.is_management_key ? '-' : String(key.allowed_models?.length ?? 'all'))],
  ['A MINUTE', perMinuteText],
  ['CREATED', ({ created_at: at }) => at],
  ['MANAGED BY', (key) => key.managed_by ?? '-'],
  ['HASH', ({ hash }) => hash],
];

function keyTable(keys: readonly KeyView[]): string {
  return tableText(
    FACTS.map(([title]) => title),
    keys.map((key) => FACTS.map(([, text]) => text(key))),
  );
}

/** One fact a line; models and guardrails by their names. */
function factsText(key: KeyView): string {
  const { allowed_models: models, guardrails = [] } = key;
  const names = guardrails.map(({ name, scope }) => `${name} (${SCOPES[scope]})`);
  const whole = new Map(FACTS.map(([title, text]) => [title, text(key)]));
  if (models !== null) whole.set('MODELS', models.join(', '));
  whole.set('EXPIRES', key.expires_at ?? 'never');
  whole.set('GUARDRAILS', names.length === 0 ? '-' : names.join(', '));
  const [first = [], ...others] = whole;
  return tableText(first, others);
}

const SCOPES: Readonly<Record<NonNullable<KeyView['guardrails']>[number]['scope'], string>> = {
  account: 'of the account',
  workspace: 'of the workspace',
  member: 'of the member',
  'api-key': 'of the key',
};

function perMinuteText({ requests_per_minute: requests, tokens_per_minute: tokens }: KeyView): string {
  const limits = [
    ...(requests === null ? [] : [countText(requests, 'request')]),
    ...(tokens === null ? [] : [countText(tokens, 'token')]),
  ];
  return limits.length === 0 ? '-' : limits.join(', ');
}

function stateText({ disabled, owner_state = 'active', expires_at }: KeyView): string {
  if (disabled) return 'disabled';
  if (owner_state !== 'active') return `owner ${owner_state}`;
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

function limitText({ is_management_key, limit, limit_reset, include_byok_in_limit }: KeyView): string {
  if (is_management_key) return '-';
  if (limit === null) return 'none';
  const byok = include_byok_in_limit ? ' with BYOK' : '';
  return `${usdText(limit)} ${limit_reset ?? 'in all'}${byok}`;
}
