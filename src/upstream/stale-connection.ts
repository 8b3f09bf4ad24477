import type { buildConnector } from 'undici';

/** Set on errors of connections that had carried an answer before. */
const REUSED = Symbol('reused');

/** Marks the errors of a connection that has carried an answer before. */
export function markingErrors(callback: buildConnector.Callback): buildConnector.Callback {
  return (...result) => {
    const [, socket] = result;
    socket?.prependListener('error', (error: Error & { [REUSED]?: boolean }) => {
      if (socket.bytesRead > 0) error[REUSED] = true;
    });
    callback(...result);
  };
}

/** Whether an error is that of a connection which had carried an answer before. */
export function isOfReusedConnection(error: Error & { [REUSED]?: boolean; socket?: unknown }): boolean {
  // Where the other side just closes, the error carries what is known of the connection.
  const { socket } = error;
  const bytesRead = isRecord(socket) ? socket.bytesRead : undefined;
  return error[REUSED] === true || (typeof bytesRead === 'number' && bytesRead > 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
