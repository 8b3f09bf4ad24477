import type { Flags } from '../../config/runtime.ts';
import type { ByokView } from '../../control/byok-commands.ts';
import type { CommandInput } from '../../control/commands.ts';
import { readSecret } from '../read-secret.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function listByok(
  flags: Flags,
  input: CommandInput<'byok.list'>,
): Promise<CommandResult<ByokView[]>> {
  const result = await runControlCommand(flags, 'byok.list', input);
  return { result, text: result.length === 0 ? 'There are no credentials.\n' : byokTable(result) };
}

/** `byok.add` without the credential itself, which is read from the environment or standard input. */
export interface AddByok extends Omit<CommandInput<'byok.add'>, 'credential'> {
  readonly credential: Omit<CommandInput<'byok.add'>['credential'], 'key'>;
  /** The environment variable that holds it; default: standard input. */
  readonly variable: string | undefined;
}

export async function addByok(
  flags: Flags,
  { variable, credential, ...input }: AddByok,
): Promise<CommandResult<ByokView>> {
  const key = await readSecret(`credential for ${credential.provider}`, variable);
  const result = await runControlCommand(flags, 'byok.add', { ...input, credential: { ...credential, key } });
  return { result, text: byokTable([result]) };
}

export async function removeByok(
  flags: Flags,
  input: CommandInput<'byok.remove'>,
): Promise<CommandResult<ByokView>> {
  const result = await runControlCommand(flags, 'byok.remove', input);
  return { result, text: `${byokTable([result])}\nThis credential is deleted and its secret is wiped.\n` };
}

function byokTable(credentials: readonly ByokView[]): string {
  return tableText(
    ['PROVIDER', 'NAME', 'LABEL', 'WORKSPACE', 'ACCOUNT', 'STATE', 'ORDER', 'MANAGED BY', 'ID'],
    credentials.map((credential) => [
      credential.provider,
      credential.name ?? '-',
      credential.label,
      credential.workspace ?? 'all',
      credential.account,
      credential.disabled ? 'disabled' : 'active',
      useText(credential),
      credential.managed_by ?? '-',
      credential.id,
    ]),
  );
}

/** When it is used, compared with the shared endpoints of its provider. */
function useText({ is_fallback, is_required, is_byok_only }: ByokView): string {
  if (is_byok_only) return 'alone';
  if (is_fallback) return is_required ? 'last, required' : 'last';
  return is_required ? 'required' : 'first';
}
