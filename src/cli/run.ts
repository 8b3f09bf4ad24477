import { resolve } from 'node:path';
import type { Flags } from '../config/runtime.ts';
import type { CommandInput } from '../control/commands.ts';
import { programVersion } from '../kit/program-version.ts';
import { type CommandLine, type CommandWords, parseCommandLine, usageText } from './command-line.ts';
import { type CommandResult, jsonText, type Output } from './terminal/output.ts';

type Run = Extract<CommandLine, { kind: 'run' }>;

/** Runs a command line. Exit code: 0 done, 1 failed, 2 wrong usage; undefined while the gateway serves. */
export async function run(words: readonly string[], output: Output): Promise<number | undefined> {
  const line = parseCommandLine(words);
  switch (line.kind) {
    case 'help':
      output.out(usageText(line.command));
      return 0;
    case 'version':
      output.out(`${programVersion()}\n`);
      return 0;
    case 'misuse':
      output.err(misuseText(line.message, line.command));
      return 2;
    default:
      return runSafely(line, output);
  }
}

function misuseText(message: string, command: CommandWords | undefined): string {
  return `signalbox: ${message}\n\n${usageText(command)}`;
}

async function runSafely(line: Run, output: Output): Promise<number | undefined> {
  try {
    return await dispatch(line, output);
  } catch (error) {
    output.err(failureText(error));
    return 1;
  }
}

/** Errors whose message is meant for the operator. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['GatewayError', 'CommandRefused', 'DataDirectoryProblem']);

/** One line for errors that the operator can solve; the stack for bugs. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return `signalbox: ${String(error)}\n`;
  // Its message already has the form `path: problem`.
  if (error.name === 'ConfigurationError') return `${error.message}\n`;
  const isForPeople = FOR_PEOPLE.has(error.name) || 'syscall' in error;
  return `signalbox: ${isForPeople ? error.message : (error.stack ?? error.message)}\n`;
}

/** Imports the code of a command only when it runs, so that `--help` does not load a gateway. */
async function dispatch(line: Run, output: Output): Promise<number | undefined> {
  const flags = configurationFlags(line);
  const asJson = line.flags.json === true;
  if (line.command === 'serve') {
    const { serve } = await import('./commands/serve.ts');
    await serve(flags, asJson);
    return undefined;
  }
  if (line.command === 'check-config') {
    const config = line.operands[0] ?? flags.config;
    if (config !== undefined && flags.config !== undefined && !isSameFile(config, flags.config)) {
      output.err(misuseText('FILE and --config name two files; give one of them', line.command));
      return 2;
    }
    const { checkConfig } = await import('./commands/check-config.ts');
    return checkConfig({ ...flags, config }, asJson, output);
  }
  if (line.command === 'catalog refresh') {
    const { refreshCatalog } = await import('./commands/catalog.ts');
    return refreshCatalog(flags, line.operands[0] ?? '', {
      dryRun: line.flags['dry-run'] === true,
      prune: line.flags.prune === true,
      yes: line.flags.yes === true,
      asJson,
      output,
    });
  }
  if (line.command === 'usage import') {
    const { importUsage } = await import('./commands/usage-import.ts');
    return importUsage(flags, line.operands[0] ?? '', {
      skipBad: line.flags['skip-bad'] === true,
      account: textFlag(line, 'account'),
      asJson,
      output,
    });
  }
  const { result, text, hasFailed = false } = await runForResult(line, line.command, flags);
  output.out(asJson ? jsonText(result) : text);
  return hasFailed ? 1 : 0;
}

function isSameFile(one: string, other: string): boolean {
  return resolve(one) === resolve(other);
}

/** Runs a command whose whole output is one result. */
async function runForResult(line: Run, command: CommandWords, flags: Flags): Promise<CommandResult<unknown>> {
  // Before other imports: doctor reports packages that cannot be loaded.
  if (command === 'doctor') return (await import('./doctor/run-doctor.ts')).runDoctor(flags);
  const { createKey, listKeys, revokeKey } = await import('./commands/keys.ts');
  const { createAccount, listAccounts } = await import('./commands/accounts.ts');
  const operand = line.operands[0] ?? '';
  const account = textFlag(line, 'account');
  switch (command) {
    case 'keys create':
      return createKey(flags, {
        name: textFlag(line, 'name') ?? '',
        account,
        workspace: textFlag(line, 'workspace'),
        management: line.flags.management === true,
        limit: textFlag(line, 'limit'),
        // Not checked here: the command checks its input.
        limit_reset: textFlag(line, 'limit-reset') as CommandInput<'keys.create'>['limit_reset'],
        include_byok: line.flags['include-byok'] === true,
      });
    case 'keys list':
      return listKeys(flags, { account });
    case 'keys revoke':
      return revokeKey(flags, { hash: operand, account });
    case 'accounts create':
      return createAccount(flags, operand);
    case 'accounts list':
      return listAccounts(flags);
    case 'credits set':
      return (await import('./commands/credits.ts')).setCredits(flags, operand, account);
    case 'credits show':
      return (await import('./commands/credits.ts')).showCredits(flags, account);
    case 'catalog show':
      return (await import('./commands/catalog.ts')).showCatalog(flags, line.operands[0]);
    case 'ledger verify':
      return (await import('./commands/ledger.ts')).verifyLedger(flags);
    case 'ledger rebuild':
      return (await import('./commands/ledger.ts')).rebuildLedger(flags);
    case 'ledger accept-loss':
      return (await import('./commands/ledger.ts')).acceptLedgerLoss(flags);
    case 'rotate-encryption-key': {
      const { rotateEncryptionKey } = await import('./commands/rotate-encryption-key.ts');
      return rotateEncryptionKey(flags, textFlag(line, 'new-key-file'));
    }
    default:
      throw new Error(`no code for the command ${command}`);
  }
}

function configurationFlags(line: Run): Flags {
  return {
    config: textFlag(line, 'config'),
    dataDir: textFlag(line, 'data-dir'),
    port: textFlag(line, 'port'),
    host: textFlag(line, 'host'),
    workers: textFlag(line, 'workers'),
  };
}

function textFlag(line: Run, name: keyof Run['flags']): string | undefined {
  const value = line.flags[name];
  return typeof value === 'string' ? value : undefined;
}
