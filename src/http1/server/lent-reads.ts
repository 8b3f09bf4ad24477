import { Socket } from 'node:net';

/** What is told of a read: its bytes are at the beginning of the buffer, until the next read of any socket. */
export type ReadTold = (bytes: Buffer, length: number) => void;

/**
 * The socket of a caller that was just taken in and is not read yet, which now reads into `buffer`. Node has this for
 * sockets that connect; one that is taken in makes 64 KB for every read, which costs as much as all else about a read. So
 * another socket is made around what the first was made around, where that is what we know it to be.
 */
export function withLentReads(taken: Socket, buffer: Buffer, tell: ReadTold): Socket {
  const handle = handleOf(taken);
  if (handle === undefined) return taken.on('data', (bytes: Buffer) => tell(bytes, bytes.length)).resume();
  // The first one closes without what it was made around, and its server counts it no more.
  Object.assign(taken, { _handle: null });
  taken.destroy();
  const onread = { buffer, callback: (length: number) => told(tell, buffer, length) };
  const options = { handle, allowHalfOpen: taken.allowHalfOpen, onread };
  return new Socket(options);
}

function told(tell: ReadTold, buffer: Buffer, length: number): boolean {
  tell(buffer, length);
  // Whoever wants no more pauses the socket.
  return true;
}

/** Undefined: it is none of the Node that this was written for. */
function handleOf(socket: Socket): object | undefined {
  const handle = '_handle' in socket ? (socket._handle as { useUserBuffer?: unknown } | null) : undefined;
  return typeof handle?.useUserBuffer === 'function' ? handle : undefined;
}
