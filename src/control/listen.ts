import { createServer, type Socket } from 'node:net';
import { GatewayError } from '../ir/errors.ts';
import { JSON_LIMITS, type Json } from '../kit/json/json.ts';
import { JsonReader } from '../kit/json/json-reader.ts';
import type { JsonLimits } from '../kit/json/json-scanner.ts';
import { stringifySliced } from '../kit/json/stringify-sliced.ts';
import type { Log } from '../kit/log/log.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import { type Controlled, isCommandName, runCommand } from './commands.ts';
import { claimSocketPath, releaseSocketPath } from './socket-path.ts';
import { type ControlReply, MAX_CATALOG_BYTES } from './wire.ts';

/** A question is one line of JSON and never longer than this; data of the catalogue are the longest part of one. */
const MAX_QUESTION_BYTES = MAX_CATALOG_BYTES + 65_536;

/** Data that are just not too much are not too much inside a question. */
const QUESTION_LIMITS: JsonLimits = {
  ...JSON_LIMITS,
  depth: JSON_LIMITS.depth + 8,
  values: JSON_LIMITS.values + 64,
};

/** How long a question may take to arrive, milliseconds. */
const QUESTION_TIMEOUT_MS = 10_000;

export interface ControlSocket {
  close(): Promise<void>;
}

/** Answers commands on the control socket (0600) of a data directory whose lock this process holds. */
export function listenForCommands(dataDir: string, controlled: Controlled, log: Log): Promise<ControlSocket> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // A command that goes away before its answer is nobody's trouble.
    socket.on('error', () => {});
    answer(socket, controlled, log);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      server.on('error', (error) => log.error('the control socket failed', { error }));
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => {
              releaseSocketPath(dataDir);
              closed();
            });
            for (const socket of open) socket.destroy();
          }),
      });
    });
    const path = claimSocketPath(dataDir);
    // The socket is made inside listen(): no other user can reach it, not even for a moment.
    const mask = process.umask(0o177);
    try {
      server.listen(path);
    } finally {
      process.umask(mask);
    }
  });
}

function answer(socket: Socket, controlled: Controlled, log: Log): void {
  const question = new JsonReader(QUESTION_LIMITS);
  const decoder = new TextDecoder();
  let length = 0;
  let answered = false;
  const reply = async (content: ControlReply) => {
    const pieces = await runInTurns(stringifySliced(content as unknown as Json));
    for (const piece of pieces) socket.write(piece);
    socket.end('\n');
  };
  socket.setTimeout(QUESTION_TIMEOUT_MS, () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    if (answered) return;
    question.push(decoder.decode(piece, { stream: true }));
    length += piece.length;
    const complete = piece.includes(10);
    if (!complete && length <= MAX_QUESTION_BYTES) return;
    answered = true;
    socket.setTimeout(0);
    if (length > MAX_QUESTION_BYTES) {
      void reply({ ok: false, problem: 'the command is too long' });
      return;
    }
    void handle(question, controlled, log).then(reply);
  });
  socket.on('end', () => {
    if (!answered) socket.end();
  });
}

async function handle(question: JsonReader, controlled: Controlled, log: Log): Promise<ControlReply> {
  const reading = await runInTurns(question.end());
  const { command, input } = (reading.ok ? (reading.value ?? {}) : {}) as {
    command?: unknown;
    input?: unknown;
  };
  if (!isCommandName(command)) {
    return {
      ok: false,
      problem: 'the running gateway does not know this command; is it of another version?',
    };
  }
  try {
    const output = await runCommand(controlled, command, input);
    log.info('a command was run', { command });
    return { ok: true, output };
  } catch (error) {
    if (error instanceof GatewayError) return { ok: false, problem: error.message };
    log.error('a command failed', { command, error });
    return { ok: false, problem: 'the command failed inside the gateway; its log says why' };
  }
}
