import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { CommandRefused, connectionProblem, isNotListening } from './send-command.ts';
import { findSocketPath } from './socket-path.ts';
import { type DroppedLine, TAIL_COMMAND, type TailedLine, type TailFilter } from './tail.ts';
import type { ControlReply } from './wire.ts';

export interface TailReader {
  /** The gateway has accepted the reader: generations that end from now on are shown. */
  connected(): void;
  line(line: TailedLine | DroppedLine): void;
}

/**
 * Reads the generations that a running gateway ends, until `signal` aborts: then it resolves. Rejects with
 * CommandRefused when no gateway runs, or when the gateway ends.
 */
export function readTail(
  dataDir: string,
  filter: TailFilter,
  reader: TailReader,
  signal: AbortSignal,
): Promise<void> {
  const path = findSocketPath(dataDir);
  if (path === undefined) return Promise.reject(noGateway(dataDir));
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.write(`${JSON.stringify({ command: TAIL_COMMAND, input: filter })}\n`);
    });
    let isAccepted = false;
    const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY });
    // The socket's own handler reports its errors.
    lines.on('error', () => {});
    lines.on('line', (text) => {
      const line: unknown = JSON.parse(text);
      if (isAccepted) return reader.line(line as TailedLine | DroppedLine);
      const reply = line as ControlReply;
      isAccepted = reply.ok;
      if (reply.ok) reader.connected();
      else {
        reject(new CommandRefused(reply.problem));
        socket.destroy();
      }
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      reject(isNotListening(error) ? noGateway(dataDir) : connectionProblem(error));
    });
    socket.on('close', () => {
      if (signal.aborted) resolve();
      else reject(new CommandRefused('the gateway has stopped'));
    });
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
  });
}

function noGateway(dataDir: string): CommandRefused {
  return new CommandRefused(
    `no gateway runs on the data directory ${dataDir}; start one, or name its directory with --data-dir`,
  );
}
