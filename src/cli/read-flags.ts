import { parseAmount } from '../control/command.ts';
import type { CommandInput } from '../control/commands.ts';
import { CommandRefused } from '../control/send-command.ts';
import { compact } from '../kit/json/members.ts';
import { usdOf } from '../kit/money.ts';
import type { CommandLine } from './command-line.ts';

/** Turns the flags of a command line into the input of commands, which check it. */

/** A command line that can be run. */
export type Run = Extract<CommandLine, { kind: 'run' }>;

/** The value of a flag that takes one; undefined if it is not given. */
export function textFlag(line: Run, name: keyof Run['flags']): string | undefined {
  const value = line.flags[name];
  return typeof value === 'string' ? value : undefined;
}

export function operand(line: Run): string {
  return line.operands[0] ?? '';
}

export function keyOperand(line: Run) {
  return { hash: operand(line), account: textFlag(line, 'account') };
}

export function assignmentOperands(line: Run) {
  const [guardrail = '', key = ''] = line.operands;
  return { guardrail, key, account: textFlag(line, 'account') };
}

export function memberOperand(line: Run) {
  return { member: operand(line), account: textFlag(line, 'account') };
}

/** What is said of a member, as the management API names it. */
export function memberSettings(line: Run) {
  return compact({
    first_name: textFlag(line, 'first-name'),
    last_name: textFlag(line, 'last-name'),
    role: textFlag(line, 'role') as CommandInput<'members.add'>['member']['role'],
  });
}

export function placeFlags(line: Run) {
  return { workspace: textFlag(line, 'workspace'), account: textFlag(line, 'account') };
}

/** True for `--include-byok`, false for `--exclude-byok`. */
export function byokFlag({ flags }: Run): boolean | undefined {
  const { 'include-byok': includes, 'exclude-byok': excludes } = flags;
  if (includes && excludes) throw new CommandRefused('--include-byok and --exclude-byok: give one of them');
  if (includes) return true;
  return excludes ? false : undefined;
}

/** Returns a change. Throws if no flag gives one. */
export function requireChange<T extends object>(change: T, { command }: Run): T {
  if (Object.values(change).some((value) => value !== undefined)) return change;
  throw new CommandRefused(`nothing to change: signalbox ${command} --help lists the flags`);
}

/** The settings of a key that are given, as the management API names them. */
export function keySettings(line: Run): CommandInput<'keys.update'>['change'] {
  const limit = textFlag(line, 'limit');
  const nanos = limit === undefined ? undefined : parseAmount(limit, 'limit');
  const reset = textFlag(line, 'limit-reset');
  const settings = {
    name: textFlag(line, 'name'),
    limit: typeof nanos === 'bigint' ? usdOf(nanos) : nanos,
    limit_reset: reset === 'never' ? null : reset,
    include_byok_in_limit: byokFlag(line),
    allowed_models: modelsFlag(line),
    requests_per_minute: numberOf(noneIsNull(textFlag(line, 'requests-per-minute'))),
    tokens_per_minute: numberOf(noneIsNull(textFlag(line, 'tokens-per-minute'))),
    expires_at: textFlag(line, 'expires') === 'never' ? null : textFlag(line, 'expires'),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** The values of `--allow-model`; null for `all`. */
function modelsFlag(line: Run): readonly string[] | null | undefined {
  const models = line.flags['allow-model'];
  if (!Array.isArray(models)) return undefined;
  if (!models.includes('all')) return models;
  if (models.length === 1) return null;
  throw new CommandRefused('--allow-model: all is every model; leave the others out');
}

/** The settings of a workspace that are given, as the management API names them. */
export function workspaceSettings(line: Run): CommandInput<'workspaces.update'>['change'] {
  const settings = {
    name: textFlag(line, 'name'),
    slug: textFlag(line, 'slug'),
    description: noneIsNull(textFlag(line, 'description')),
    default_text_model: noneIsNull(textFlag(line, 'default-text-model')),
    default_provider_sort: noneIsNull(textFlag(line, 'default-provider-sort')),
    is_observability_io_logging_enabled: onOrOff(textFlag(line, 'io-logging')),
    io_logging_sampling_rate: numberOf(textFlag(line, 'io-logging-sampling-rate')),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function noneIsNull(text: string | undefined): string | null | undefined {
  return text === 'none' ? null : text;
}

function onOrOff(text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : text === 'on';
}

/** Text that is no number stays text, which the command refuses. */
function numberOf<T extends null | undefined>(text: string | T): number | string | T {
  return typeof text === 'string' && /^\d*\.?\d+$/.test(text) ? Number(text) : text;
}
