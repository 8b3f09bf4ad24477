import { requireConfiguration } from '../../config/load.ts';
import type { Flags } from '../../config/runtime.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../control/commands.ts';
import { sendCommand } from '../../control/send-command.ts';
import {
  type InstallationOptions,
  isDirectoryInUse,
  loadOptions,
  openInstallation,
} from '../../installation.ts';
import { openStderrLog } from '../../kit/log.ts';
import { keptMs } from '../../manage/generations/retention.ts';

/** Runs a command of the control table in the gateway that runs on the data directory, or alone when none does. */
export async function runControlCommand<Name extends CommandName>(
  flags: Flags,
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name>> {
  const options = installationOptions(flags);
  return sendCommand(
    { dataDir: options.dataDir, openAlone: () => openInstallation(options), isInUse: isDirectoryInUse },
    command,
    input,
  );
}

/** How a command opens the data directory when no gateway has it. */
export function installationOptions(flags: Flags): InstallationOptions {
  const { config, runtime } = requireConfiguration(loadOptions(flags));
  const log = openStderrLog(runtime.logLevel);
  return {
    dataDir: runtime.dataDir,
    keyPrefix: config.keys.prefix,
    initialUsd: () => config.credits.initial_usd,
    encryptionKey: runtime.encryptionKey,
    ...(runtime.database !== undefined && {
      database: {
        address: runtime.database,
        waits: false,
        serves: false,
        keptMs: () => keptMs(config.retention.events_days),
      },
    }),
    generationMs: () => config.server.request_deadline_ms,
    durability: () => config.durability.ledger,
    warn: (message, fields) => log.warn(message, fields),
  };
}
