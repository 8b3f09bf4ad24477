import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { JSON_LIMITS, readJson } from '../kit/json/json.ts';
import type { CommandServices } from './command.ts';
import { type CommandInput, type CommandName, type CommandOutput, runCommand } from './commands.ts';
import { findSocketPath } from './socket-path.ts';
import type { ControlReply, ControlRequest } from './wire.ts';

/** A command that was refused or could not run. The message is shown to the operator. */
export class CommandRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandRefused';
  }
}

export interface OpenedAlone extends CommandServices {
  close(): Promise<void>;
}

export interface SendOptions {
  readonly dataDir: string;
  /**
   * Locks and opens the directory. While another process holds the lock, rejects with a reason that `isInUse`
   * accepts.
   */
  readonly openAlone: () => Promise<OpenedAlone>;
  readonly isInUse: (reason: unknown) => boolean;
  /** How long to retry while a gateway starts or another command runs, milliseconds. */
  readonly patienceMs?: number;
}

const RETRY_MS = 50;
const ANSWER_TIMEOUT_MS = 60_000;

/** Other timeouts: long for commands that process all data, short for `doctor`, which can examine files itself. */
const COMMAND_TIMEOUTS_MS: Readonly<Partial<Record<CommandName, number>>> = {
  'ledger.rebuild': 3_600_000,
  'usage.import': 3_600_000,
  'backup.events': 3_600_000,
  'doctor.inspect': 5_000,
  'doctor.providers': 9_500,
  'doctor.configuration': 5_000,
  'doctor.bucket': 9_500,
  'doctor.postgres': 9_500,
  'doctor.redis': 9_500,
  'doctor.clickhouse': 9_500,
};

/** Replies are trusted and may be large: each value of a catalogue refresh may yield several in the reply. */
const REPLY_LIMITS = { ...JSON_LIMITS, values: 20 * JSON_LIMITS.values };

/** Runs a command in the gateway that serves the data directory, or in this process if none does. */
export async function sendCommand<Name extends CommandName>(
  { dataDir, openAlone, isInUse, patienceMs = 3_000 }: SendOptions,
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name>> {
  // Through JSON, so that both ways see the same input.
  const request: ControlRequest = JSON.parse(JSON.stringify({ command, input }));
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const reply = await ask(dataDir, request);
    if (reply !== undefined) {
      if (!reply.ok) throw new CommandRefused(reply.problem);
      return reply.output as CommandOutput<Name>;
    }
    try {
      return await runAlone(openAlone, command, request.input);
    } catch (reason) {
      // The holder of the lock is a gateway that will open its socket, or a command that will end.
      if (!isInUse(reason)) throw reason;
      if (performance.now() > giveUpAt) throw new CommandRefused(inUseWithoutAnswer(dataDir));
      await delay(RETRY_MS);
    }
  }
}

/**
 * Runs a command in the gateway that serves the data directory; undefined if none does. Rejects with CommandRefused.
 */
export async function askRunning<Name extends CommandName>(
  dataDir: string,
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name> | undefined> {
  const reply = await ask(dataDir, { command, input });
  if (reply === undefined) return undefined;
  if (!reply.ok) throw new CommandRefused(reply.problem);
  return reply.output as CommandOutput<Name>;
}

async function runAlone<Name extends CommandName>(
  openAlone: SendOptions['openAlone'],
  command: Name,
  input: unknown,
): Promise<CommandOutput<Name>> {
  const opened = await openAlone();
  try {
    return await runCommand(opened, command, input);
  } finally {
    await opened.close();
  }
}

function inUseWithoutAnswer(dataDir: string): string {
  return (
    `the data directory ${dataDir} is in use by another process, which answers no commands yet; ` +
    'if that is a gateway that is starting, its log says what it waits for'
  );
}

/** The reply of a running gateway; undefined if none listens. */
function ask(dataDir: string, request: ControlRequest): Promise<ControlReply | undefined> {
  const path = findSocketPath(dataDir);
  if (path === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let connected = false;
    const socket = connect(path, () => {
      connected = true;
      socket.write(`${JSON.stringify(request)}\n`);
    });
    socket.setTimeout(COMMAND_TIMEOUTS_MS[request.command] ?? ANSWER_TIMEOUT_MS, () => {
      socket.destroy(new CommandRefused('the running gateway does not answer'));
    });
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', (error) => {
      if (!connected && isNotListening(error)) resolve(undefined);
      else reject(connectionProblem(error));
    });
    socket.on('close', () => {
      const reading = readJson(Buffer.concat(pieces).toString('utf8'), REPLY_LIMITS);
      if (reading.ok) resolve(reading.value as unknown as ControlReply);
      else reject(new CommandRefused('the running gateway closed the connection before it answered'));
    });
  });
}

/** Error codes of a socket that no gateway listens on; `ENOTDIR`: the data directory is a file. */
const NOT_LISTENING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ENOTSOCK']);

export function isNotListening({ code = '' }: NodeJS.ErrnoException): boolean {
  return NOT_LISTENING.has(code);
}

export function connectionProblem(error: NodeJS.ErrnoException): Error {
  if (error instanceof CommandRefused) return error;
  if (error.code === 'EACCES')
    return new CommandRefused('the gateway runs as another user; use that user, or root');
  return new CommandRefused(`the running gateway could not be reached (${error.code ?? 'unknown'})`);
}
