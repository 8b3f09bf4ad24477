import type { Flags } from '../../config/runtime.ts';
import type { CreditsView } from '../../control/views.ts';
import { usdText } from '../../kit/text/usd-text.ts';
import { runControlCommand } from '../run-control-command.ts';
import type { CommandResult } from '../terminal/output.ts';

export async function setCredits(
  flags: Flags,
  left: string,
  account: string | undefined,
): Promise<CommandResult<CreditsView>> {
  return creditsResult(await runControlCommand(flags, 'credits.set', { left, account }));
}

export async function showCredits(
  flags: Flags,
  account: string | undefined,
): Promise<CommandResult<CreditsView>> {
  return creditsResult(await runControlCommand(flags, 'credits.show', { account }));
}

function creditsResult(result: CreditsView): CommandResult<CreditsView> {
  return { result, text: `${result.left_usd === null ? 'none' : usdText(result.left_usd)}\n` };
}
