import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { JSON_LIMITS, readJson } from '../kit/json/json.ts';
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  type Controlled,
  runCommand,
} from './commands.ts';
import { findSocketPath } from './socket-path.ts';
import type { ControlQuestion, ControlReply } from './wire.ts';

/** A command that was refused or could not be run. The message is for the person who typed it. */
export class CommandRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandRefused';
  }
}

/** The parts of a data directory that nobody else has open. */
export interface OpenedAlone extends Controlled {
  close(): Promise<void>;
}

export interface SendOptions {
  readonly dataDir: string;
  /** Takes the directory's lock and opens it. Rejects, `isInUse` being true of the reason, while another has it. */
  readonly openAlone: () => Promise<OpenedAlone>;
  readonly isInUse: (reason: unknown) => boolean;
  /** How long to wait for a gateway that is just starting or for another command, milliseconds. */
  readonly patienceMs?: number;
}

const RETRY_MS = 50;
const ANSWER_TIMEOUT_MS = 60_000;

/** How long a gateway may take for commands that go through all there is, or whose asker has other ways to find out, milliseconds. */
const ANSWER_LIMITS_MS: Readonly<Partial<Record<CommandName, number>>> = {
  'ledger.rebuild': 3_600_000,
  'usage.import': 3_600_000,
  'doctor.inspect': 5_000,
};

/** The gateway's own words: each value of the data of a catalogue can make a difference, and that is several values. */
const REPLY_LIMITS = { ...JSON_LIMITS, values: 20 * JSON_LIMITS.values };

/** Runs a command in the gateway that has the data directory open, or alone when none has. */
export async function sendCommand<Name extends CommandName>(
  { dataDir, openAlone, isInUse, patienceMs = 3_000 }: SendOptions,
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name>> {
  // As it would be on the wire, so that both ways see the same input.
  const question: ControlQuestion = JSON.parse(JSON.stringify({ command, input }));
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const reply = await ask(dataDir, question);
    if (reply !== undefined) {
      if (!reply.ok) throw new CommandRefused(reply.problem);
      return reply.output as CommandOutput<Name>;
    }
    try {
      return await runAlone(openAlone, command, question.input);
    } catch (reason) {
      // Whoever has the lock either opens its socket soon or is a command that ends soon.
      if (!isInUse(reason) || performance.now() > giveUpAt) throw reason;
      await delay(RETRY_MS);
    }
  }
}

/** Runs a command in the gateway that has the data directory open; undefined when none has. Rejects with a CommandRefused. */
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

/** The reply of a running gateway; undefined when none listens. */
function ask(dataDir: string, question: ControlQuestion): Promise<ControlReply | undefined> {
  const path = findSocketPath(dataDir);
  if (path === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let connected = false;
    const socket = connect(path, () => {
      connected = true;
      socket.write(`${JSON.stringify(question)}\n`);
    });
    socket.setTimeout(ANSWER_LIMITS_MS[question.command] ?? ANSWER_TIMEOUT_MS, () => {
      socket.destroy(new CommandRefused('the running gateway does not answer'));
    });
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', (error) => {
      if (!connected && isNobodyThere(error)) resolve(undefined);
      else reject(connectionProblem(error));
    });
    socket.on('close', () => {
      const reading = readJson(Buffer.concat(pieces).toString('utf8'), REPLY_LIMITS);
      if (reading.ok) resolve(reading.value as unknown as ControlReply);
      else reject(new CommandRefused('the running gateway closed the connection before it answered'));
    });
  });
}

function isNobodyThere(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ENOTSOCK';
}

function connectionProblem(error: NodeJS.ErrnoException): Error {
  if (error instanceof CommandRefused) return error;
  if (error.code === 'EACCES')
    return new CommandRefused('the gateway runs as another user; use that user, or root');
  return new CommandRefused(`the running gateway could not be reached (${error.code ?? 'unknown'})`);
}
