import type { Flags } from '../../config/runtime.ts';
import type { CommandInput } from '../../control/commands.ts';
import type { AssignmentView, GuardrailView } from '../../control/guardrail-commands.ts';
import { countText } from '../../kit/text/count-text.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type Ask, askTerminal, isYes } from '../terminal/ask.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function listGuardrails(
  flags: Flags,
  input: CommandInput<'guardrails.list'>,
): Promise<CommandResult<GuardrailView[]>> {
  const result = await runControlCommand(flags, 'guardrails.list', input);
  return { result, text: result.length === 0 ? 'There are no guardrails.\n' : guardrailTable(result) };
}

/** Assigns a guardrail to a key. Asks before another one is replaced; without a terminal it needs `--yes`. */
export async function assignGuardrail(
  flags: Flags,
  input: Omit<CommandInput<'guardrails.assign'>, 'replace'>,
  { yes, ask = askTerminal() }: { readonly yes: boolean; readonly ask?: Ask | undefined },
): Promise<CommandResult<AssignmentView>> {
  const first = await runControlCommand(flags, 'guardrails.assign', { ...input, replace: yes });
  if (first.is_changed) return assigned(first);
  const warning =
    `${first.key.name} has the guardrail "${first.replaced?.name}". A key has one guardrail of its own: ` +
    'none of the rules of that one would hold for it any more.';
  if (ask === undefined) {
    return { result: first, text: `${warning}\nNothing was changed; --yes replaces it.\n`, hasFailed: true };
  }
  if (!isYes(await ask(`${warning}\nReplace it by "${first.guardrail.name}"? [y/N] `))) {
    return { result: first, text: 'Nothing was changed.\n', hasFailed: true };
  }
  return assigned(await runControlCommand(flags, 'guardrails.assign', { ...input, replace: true }));
}

function assigned(result: AssignmentView): CommandResult<AssignmentView> {
  const { guardrail, key, replaced } = result;
  const before = replaced === null ? '' : ` It replaced "${replaced.name}".`;
  return { result, text: `${key.name} has the guardrail "${guardrail.name}" now.${before}\n` };
}

export async function unassignGuardrail(
  flags: Flags,
  input: CommandInput<'guardrails.unassign'>,
): Promise<CommandResult<AssignmentView>> {
  const result = await runControlCommand(flags, 'guardrails.unassign', input);
  const { guardrail, key, is_changed: isChanged } = result;
  const text = isChanged
    ? `${key.name} no longer has the guardrail "${guardrail.name}".\n`
    : `${key.name} does not have the guardrail "${guardrail.name}".\n`;
  return { result, text, hasFailed: !isChanged };
}

function guardrailTable(guardrails: readonly GuardrailView[]): string {
  return tableText(
    ['NAME', 'ACCOUNT', 'APPLIES TO', 'BUDGET', 'FILTERS', 'MANAGED BY', 'ID'],
    guardrails.map((guardrail) => [
      guardrail.name,
      guardrail.account,
      appliesTo(guardrail),
      budgetText(guardrail),
      filtersText(guardrail),
      guardrail.managed_by ?? '-',
      guardrail.id,
    ]),
  );
}

function appliesTo({
  default_of: owner,
  assigned_keys: keys,
  assigned_members: members,
}: GuardrailView): string {
  const parts = [
    ...(owner === null ? [] : [`the ${owner}`]),
    ...(keys === 0 ? [] : [countText(keys, 'key')]),
    ...(members === 0 ? [] : [countText(members, 'member')]),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function budgetText({ limit_usd: usd, reset_interval: interval }: GuardrailView): string {
  return usd === null ? '-' : `$${usd} ${interval ?? 'in all'}`;
}

function filtersText({
  content_filter_builtins: builtins,
  content_filters: own,
  service,
}: GuardrailView): string {
  const slugs = (builtins ?? []).map(({ slug }) => slug);
  const count = own?.length ?? 0;
  const words = [
    ...slugs,
    ...(count === 0 ? [] : [`${count} of your own`]),
    ...(service === null ? [] : ['a service']),
  ];
  return words.length === 0 ? '-' : words.join(', ');
}
