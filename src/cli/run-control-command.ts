import { openInstallation, requireInstallation } from '../app/installation.ts';
import type { InstallationOptions } from '../app/installation-options.ts';
import { findDataDirectory, requireConfiguration } from '../config/load.ts';
import type { Flags } from '../config/runtime.ts';
import type { CommandInput, CommandName, CommandOutput } from '../control/commands.ts';
import { sendCommand } from '../control/send-command.ts';
import { openStderrLog } from '../kit/log/log.ts';
import { parseEgressRules } from '../kit/net/egress.ts';
import { credentialProviders, mcpProviders } from '../manage/byok/byok-secret.ts';
import { providerSetters } from '../manage/gateway-providers/provider-setters.ts';
import { keptMs } from '../manage/generations/retention.ts';
import { loadOptions } from '../settings/load-options.ts';
import { isDirectoryInUse } from '../store/directory/data-directory-problem.ts';

/** Runs a control command in the gateway that serves the data directory, or in this process if none does. */
export async function runControlCommand<Name extends CommandName>(
  flags: Flags,
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name>> {
  return sendCommand(
    {
      dataDir: findDataDirectory(flags),
      // Reads the file only now: a running gateway has it, with secrets that this process may lack.
      openAlone: async () => {
        const options = installationOptions(flags);
        if (!FIRST_COMMANDS.has(command)) requireInstallation(options);
        return openInstallation(options);
      },
      isInUse: isDirectoryInUse,
    },
    command,
    input,
  );
}

/** Commands that fill a data directory, also before its gateway is started for the first time. */
const FIRST_COMMANDS: ReadonlySet<CommandName> = new Set([
  'accounts.create',
  'keys.create',
  'credits.set',
  'usage.scopes',
  'usage.import',
]);

/** A line for people: the directory on which a command has worked. */
export function dataDirectoryLine(flags: Flags): string {
  return `Data directory: ${findDataDirectory(flags)}\n`;
}

/** Shorter waits for the disk are no news to the one who runs a command, unlike to the callers of a gateway. */
const NOTICED_WAIT_MS = 1_000;

/** Options for a command that opens the data directory itself. Needs no secret of a provider. */
export function installationOptions(flags: Flags): InstallationOptions {
  const loaded = requireConfiguration({ ...loadOptions(flags), scope: 'commands' });
  const { config, runtime } = loaded;
  const log = openStderrLog(runtime);
  return {
    dataDir: runtime.dataDir,
    keyPrefix: config.keys.prefix,
    vendor: config.vendor,
    initialUsd: () => config.credits.initial_usd,
    providers: () => [...credentialProviders(config.providers), ...mcpProviders(config.tools.mcp_servers)],
    egress: () => parseEgressRules(config.egress.allow),
    providerSetters: () => providerSetters(loaded),
    encryptionKey: runtime.encryptionKey,
    clickhouse: runtime.clickhouse,
    mayMigrate: runtime.mayMigrate,
    ...(runtime.database !== undefined && {
      database: {
        address: runtime.database,
        waitsForDatabase: false,
        isGateway: false,
        retentionMs: () => keptMs(config.retention.events_days),
      },
    }),
    generationMs: () => config.server.request_deadline_ms,
    durability: () => config.durability.ledger,
    warn: (message, fields) => log.warn(message, fields),
    slowDiskMs: NOTICED_WAIT_MS,
  };
}
