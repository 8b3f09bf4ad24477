import type { Flags } from '../../config/load.ts';
import type { CreditsView } from '../../control/credits-view.ts';
import { usdText } from '../terminal/output.ts';
import type { Told } from './keys.ts';
import { runControlCommand } from './run-control-command.ts';

export async function setCredits(
  flags: Flags,
  left: string,
  account: string | undefined,
): Promise<Told<CreditsView>> {
  return told(await runControlCommand(flags, 'credits.set', { left, account }));
}

export async function showCredits(flags: Flags, account: string | undefined): Promise<Told<CreditsView>> {
  return told(await runControlCommand(flags, 'credits.show', { account }));
}

function told(result: CreditsView): Told<CreditsView> {
  return { result, text: `${result.left_usd === null ? 'none' : usdText(result.left_usd)}\n` };
}
