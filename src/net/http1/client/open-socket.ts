import { connect as connectPlain, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens a socket to one origin. Bytes go to `onread`; the socket emits no `data` events. */
type OpenSocket = (onread: OnReadOpts) => Socket;

export interface SocketOpener {
  readonly open: OpenSocket;
  /** The event after which a socket can be written to. */
  readonly readyEvent: 'connect' | 'secureConnect';
}

export interface SocketGuard {
  /** Finds the addresses of a name that may be connected to. */
  readonly lookup: LookupFunction;
  /** Throws if the peer of a connected socket is one that must not be talked to. */
  checkPeer(address: string): void;
}

const TCP_KEEP_ALIVE_MS = 60_000;

/** Opens sockets to the origin of `url`: TLS with verified certificates, unless its protocol is `http:`. */
export function socketOpener(url: URL, guard?: SocketGuard): SocketOpener {
  const to = {
    // The host name of a URL has brackets around an IPv6 address.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: portOf(url),
    ...(guard !== undefined && { lookup: guard.lookup }),
  };
  if (url.protocol === 'http:') {
    const open: OpenSocket = (onread) => tuned(connectPlain({ ...to, onread }));
    return { readyEvent: 'connect', open: checked(open, guard) };
  }
  return { readyEvent: 'secureConnect', open: checked(tlsOpener(to), guard) };
}

/**
 * Sockets whose peer is checked as soon as they are connected, before anything is written: an address in the URL is not
 * looked up, and a look-up might be wrong.
 */
function checked(open: OpenSocket, guard: SocketGuard | undefined): OpenSocket {
  if (guard === undefined) return open;
  return (onread) => {
    const socket = open(onread);
    return socket.once('connect', () => {
      try {
        guard.checkPeer(socket.remoteAddress ?? '');
      } catch (problem) {
        socket.destroy(problem as Error);
      }
    });
  };
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'http:' ? 80 : 443));
}

function tlsOpener(to: { readonly host: string; readonly port: number }): OpenSocket {
  // Resuming the last session halves the handshake.
  let session: Buffer | undefined;
  return (onread) => {
    const options: ConnectionOptions & { readonly onread: OnReadOpts } = {
      ...to,
      onread,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      // TLS allows host names here, and no addresses.
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
