import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that refuses every connection and records its destination. */
export interface ClosedDoor {
  readonly url: string;
  /** Hosts and addresses that were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

export async function openClosedDoor(): Promise<ClosedDoor> {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(403).end();
  });
  server.on('connect', ({ url = '' }, socket) => {
    asked.push(url);
    // Some clients reset the connection that was refused to them.
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
