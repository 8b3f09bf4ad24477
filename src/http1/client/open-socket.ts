import { connect as connectPlain, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens a socket to one origin. What it reads is told to `onread`, and nothing else is. */
export type OpenSocket = (onread: OnReadOpts) => Socket;

/** The event of a socket that is ready to be written to. */
export type ReadyEvent = 'connect' | 'secureConnect';

/** How sockets to an origin are opened, and how one tells that it is ready. */
export interface SocketOpener {
  readonly open: OpenSocket;
  readonly readyEvent: ReadyEvent;
}

const TCP_KEEP_ALIVE_MS = 60_000;

/** Sockets to the origin of an address: TLS, with certificates verified, unless it says `http:`. */
export function socketOpener(url: URL, lookup?: LookupFunction): SocketOpener {
  const to = {
    // An IPv6 address stands in brackets there.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: portOf(url),
    ...(lookup !== undefined && { lookup }),
  };
  if (url.protocol === 'http:') {
    return { readyEvent: 'connect', open: (onread) => tuned(connectPlain({ ...to, onread })) };
  }
  return { readyEvent: 'secureConnect', open: tlsOpener(to) };
}

/** The port that an address leads to. */
export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'http:' ? 80 : 443));
}

function tlsOpener(to: { readonly host: string; readonly port: number }): OpenSocket {
  // Resuming a session spares a connection half of its handshake.
  let session: Buffer | undefined;
  return (onread) => {
    const options: ConnectionOptions & { readonly onread: OnReadOpts } = {
      ...to,
      onread,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      // The name of a server is not its address.
      ...(isIP(to.host) === 0 && { servername: to.host }),
      ...(session !== undefined && { session }),
    };
    const socket = connectTls(options);
    socket.on('session', (newest) => {
      session = newest;
    });
    return tuned(socket);
  };
}

function tuned(socket: Socket): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
}
