import { createServer, type Socket } from 'node:net';
import { GatewayError } from '../ir/errors.ts';
import { JSON_LIMITS, type Json } from '../kit/json/json.ts';
import { JsonReader } from '../kit/json/json-reader.ts';
import type { JsonLimits } from '../kit/json/json-scanner.ts';
import { stringifySliced } from '../kit/json/stringify-sliced.ts';
import type { Log } from '../kit/log/log.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import type { CommandServices } from './command.ts';
import { isCommandName, runCommand } from './commands.ts';
import { claimSocketPath, releaseSocketPath } from './socket-path.ts';
import { parseTailFilter, sendTail, TAIL_COMMAND, type TailFilter, type TailGenerations } from './tail.ts';
import { type ControlReply, MAX_CATALOG_BYTES } from './wire.ts';

/** Limit of a request, which is one line of JSON; the largest holds data of the catalogue. */
const MAX_REQUEST_BYTES = MAX_CATALOG_BYTES + 65_536;

/** Limits for JSON that wraps data which may reach JSON_LIMITS themselves. */
const REQUEST_LIMITS: JsonLimits = {
  ...JSON_LIMITS,
  depth: JSON_LIMITS.depth + 8,
  values: JSON_LIMITS.values + 64,
};

/** How long a request may take to arrive, milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface ControlSocket {
  close(): Promise<void>;
}

/** Serves commands on the control socket (mode 0600) of a data directory that this process has locked. */
export function listenForCommands(
  dataDir: string,
  services: CommandServices,
  log: Log,
): Promise<ControlSocket> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // A client that disconnects before its reply is not an error.
    socket.on('error', () => {});
    answer(socket, services, log);
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
    // listen() creates the socket synchronously, so that it never exists with a wider mode.
    const mask = process.umask(0o177);
    try {
      server.listen(path);
    } finally {
      process.umask(mask);
    }
  });
}

function answer(socket: Socket, services: CommandServices, log: Log): void {
  const request = new JsonReader(REQUEST_LIMITS);
  const decoder = new TextDecoder();
  let length = 0;
  let answered = false;
  const reply = async (content: ControlReply) => {
    const pieces = await runInTurns(stringifySliced(content as unknown as Json));
    for (const piece of pieces) socket.write(piece);
    socket.end('\n');
  };
  const follow = ({ tail, filter }: BegunTail) => {
    socket.write(`${JSON.stringify({ ok: true, output: null } satisfies ControlReply)}\n`);
    sendTail(socket, tail, filter);
  };
  socket.setTimeout(REQUEST_TIMEOUT_MS, () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    if (answered) return;
    request.push(decoder.decode(piece, { stream: true }));
    length += piece.length;
    const complete = piece.includes(10);
    if (!complete && length <= MAX_REQUEST_BYTES) return;
    answered = true;
    socket.setTimeout(0);
    if (length > MAX_REQUEST_BYTES) {
      void reply({ ok: false, problem: 'the command is too long' });
      return;
    }
    void handle(request, services, log).then((content) =>
      'tail' in content ? follow(content) : reply(content),
    );
  });
  socket.on('end', () => {
    if (!answered) socket.end();
  });
}

/** A reply that goes on. */
interface BegunTail {
  readonly tail: TailGenerations;
  readonly filter: TailFilter;
}

async function handle(
  request: JsonReader,
  services: CommandServices,
  log: Log,
): Promise<ControlReply | BegunTail> {
  const reading = await runInTurns(request.end());
  const { command, input } = (reading.ok ? (reading.value ?? {}) : {}) as {
    command?: unknown;
    input?: unknown;
  };
  if (command === TAIL_COMMAND && services.tail !== undefined) {
    try {
      return { tail: services.tail, filter: parseTailFilter(input) };
    } catch (error) {
      return { ok: false, problem: (error as Error).message };
    }
  }
  if (!isCommandName(command)) {
    return {
      ok: false,
      problem: 'the running gateway does not know this command; is it of another version?',
    };
  }
  try {
    const output = await runCommand(services, command, input);
    log.info('a command was run', { command });
    return { ok: true, output };
  } catch (error) {
    if (error instanceof GatewayError) return { ok: false, problem: error.message };
    log.error('a command failed', { command, error });
    return { ok: false, problem: 'the command failed inside the gateway; its log says why' };
  }
}
