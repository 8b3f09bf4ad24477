import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { DatabaseAddress } from '../../../kit/net/database-address.ts';

/** Reasons for a failed connection besides the codes of the system. */
export type SocketProblem = 'NO_TLS' | 'UNTRUSTED';

/** SSLRequest, the first message of a connection: length and code. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** The answer of a server that accepts TLS. */
const TLS_ACCEPTED = 'S'.charCodeAt(0);

/** Opens a connection to a server, encrypted as the address wants it. Rejects with an error that has a code. */
export async function connectSocket(address: DatabaseAddress, limitMs: number): Promise<Socket> {
  const { host, port, tls } = address;
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  const tooLate = () => socket.destroy(problem('ETIMEDOUT', 'the connection took too long'));
  socket.setTimeout(limitMs, tooLate);
  try {
    await once(socket, 'connect');
    const ready = tls === 'disable' ? socket : await secured(socket, address);
    socket.setTimeout(0);
    socket.off('timeout', tooLate);
    return ready;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function secured(socket: Socket, { host, tls }: DatabaseAddress): Promise<Socket> {
  socket.write(TLS_REQUEST);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  // More bytes were injected in plain text, to be taken for what the server sends encrypted.
  if (answer.length !== 1) throw problem('NO_TLS', 'the answer to the request for TLS is not one byte');
  if (answer[0] !== TLS_ACCEPTED) {
    if (tls === 'prefer') return socket;
    throw problem('NO_TLS', 'the server offers no TLS');
  }
  const encrypted = connectTls({
    socket,
    ...(isIP(host) === 0 && { servername: host }),
    host,
    rejectUnauthorized: tls === 'verify-full',
  });
  try {
    await once(encrypted, 'secureConnect');
    return encrypted;
  } catch (error) {
    encrypted.destroy();
    throw isOfTheSystem(error) ? error : problem('UNTRUSTED', 'the certificate is not trusted', error);
  }
}

/** The connection broke; nothing is wrong with the certificate. */
function isOfTheSystem(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined || codeIs(error, 'ETIMEDOUT', 'ECONNRESET');
}

function codeIs(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

function problem(code: SocketProblem | 'ETIMEDOUT', message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}
