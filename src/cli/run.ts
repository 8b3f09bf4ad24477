import { readFileSync } from 'node:fs';
import { ConfigurationError, type Flags } from '../config/load.ts';
import { CommandRefused } from '../control/send-command.ts';
import { GatewayError } from '../ir/errors.ts';
import { createAccount, listAccounts } from './accounts.ts';
import { checkConfig } from './check-config.ts';
import { type CommandLine, type CommandWords, parseCommandLine, usageText } from './command-line.ts';
import { createKey, listKeys, revokeKey, type Told } from './keys.ts';
import { jsonText, type Output } from './output.ts';
import { serve } from './serve.ts';

type Run = Extract<CommandLine, { kind: 'run' }>;

/** Runs what was typed and gives the exit code: 0 done, 1 failed, 2 misused. Undefined while the gateway serves. */
export async function run(words: readonly string[], output: Output): Promise<number | undefined> {
  const line = parseCommandLine(words);
  switch (line.kind) {
    case 'help':
      output.out(usageText(line.command));
      return 0;
    case 'version':
      output.out(`${version()}\n`);
      return 0;
    case 'misuse':
      output.err(`signalbox: ${line.message}\n\n${usageText(line.command)}`);
      return 2;
    default:
      return runSafely(line, output);
  }
}

async function runSafely(line: Run, output: Output): Promise<number | undefined> {
  try {
    return await runCommand(line, output);
  } catch (error) {
    output.err(failureText(error));
    return 1;
  }
}

/** What people can mend is said in one line; the rest is a fault of ours and shows where. */
function failureText(error: unknown): string {
  if (error instanceof ConfigurationError) return `${error.message}\n`;
  if (error instanceof GatewayError || error instanceof CommandRefused)
    return `signalbox: ${error.message}\n`;
  if (error instanceof Error && (error.name === 'DataDirectoryProblem' || 'syscall' in error)) {
    return `signalbox: ${error.message}\n`;
  }
  return `signalbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

async function runCommand(line: Run, output: Output): Promise<number | undefined> {
  const flags = configurationFlags(line);
  if (line.command === 'serve') {
    await serve(flags);
    return undefined;
  }
  const asJson = line.flags.json === true;
  if (line.command === 'check-config') {
    return checkConfig({ ...flags, config: line.operands[0] ?? flags.config }, asJson, output);
  }
  const { result, text } = await tell(line, line.command, flags);
  output.out(asJson ? jsonText(result) : text);
  return 0;
}

function tell(line: Run, command: CommandWords, flags: Flags): Promise<Told<unknown>> {
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
      });
    case 'keys list':
      return listKeys(flags, { account });
    case 'keys revoke':
      return revokeKey(flags, { hash: operand, account });
    case 'accounts create':
      return createAccount(flags, operand);
    case 'accounts list':
      return listAccounts(flags);
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

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
