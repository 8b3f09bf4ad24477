import { type Flags, requireConfiguration } from '../config/load.ts';
import type { CommandInput, CommandName, CommandOutput } from '../control/commands.ts';
import { sendCommand } from '../control/send-command.ts';
import { isDirectoryInUse, loadOptions, openInstallation } from '../installation.ts';

/** Runs a command of the control table in the gateway that runs on the data directory, or alone when none does. */
export async function runControlCommand<Name extends CommandName>(
  flags: Flags,
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name>> {
  const { config, runtime } = requireConfiguration(loadOptions(flags));
  return sendCommand(
    {
      dataDir: runtime.dataDir,
      openAlone: () =>
        openInstallation({
          dataDir: runtime.dataDir,
          keyPrefix: config.keys.prefix,
          encryptionKey: runtime.encryptionKey,
        }),
      isInUse: isDirectoryInUse,
    },
    command,
    input,
  );
}
