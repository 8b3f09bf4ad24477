import type { Flags } from '../../config/load.ts';
import { openInstallation } from '../../installation.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { LedgerLoss } from '../../ports/ledger-mark.ts';
import type { Told } from './keys.ts';
import { installationOptions } from './run-control-command.ts';

/** What was lost and is done without from now on; null when nothing was. */
export interface LossView {
  readonly loss: { readonly ends_at: number; readonly known_to: number } | null;
}

/** Opens a data directory whose journal ends before what its database knows of, which a gateway does not do. */
export async function acceptLedgerLoss(flags: Flags): Promise<Told<LossView>> {
  const options = installationOptions(flags);
  if (options.database !== undefined) {
    throw new GatewayError(
      'invalid-request',
      'the ledger is in the database of DATABASE_URL, which has no journal to be lost; this is for a gateway without one',
    );
  }
  const losses: LedgerLoss[] = [];
  const { close } = await openInstallation({ ...options, acceptLoss: (loss) => losses.push(loss) });
  await close();
  const [loss] = losses;
  return loss === undefined
    ? {
        result: { loss: null },
        text: 'The journal has all that the database knows of. Nothing was changed.\n',
      }
    : { result: { loss: { ends_at: loss.endsAt, known_to: loss.knownTo } }, text: textOf(loss) };
}

function textOf({ endsAt, knownTo }: LedgerLoss): string {
  return (
    `The ledger goes on from record ${endsAt}; what came after it, up to record ${knownTo} or later, is lost.\n` +
    'What keys, workspaces and accounts have spent is as of then, and so are balances: one that was given later is not enforced.\n' +
    'Look at them with signalbox ledger verify and set them with signalbox credits set before the gateway is started.\n'
  );
}
