import type { Flags } from '../../config/runtime.ts';
import type { CommandInput } from '../../control/commands.ts';
import type { GuardrailView } from '../../control/guardrail-commands.ts';
import { countText } from '../../kit/text/count-text.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function listGuardrails(
  flags: Flags,
  input: CommandInput<'guardrails.list'>,
): Promise<CommandResult<GuardrailView[]>> {
  const result = await runControlCommand(flags, 'guardrails.list', input);
  return { result, text: result.length === 0 ? 'There are no guardrails.\n' : guardrailTable(result) };
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
