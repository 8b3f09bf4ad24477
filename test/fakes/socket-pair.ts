import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Two connected local sockets, as a process has them with one that it started. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-pair-'));
  const server = createServer().listen(join(folder, 's'));
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const near = connect(join(folder, 's'));
  const [far] = (await accepted) as [Socket];
  server.close();
  rmSync(folder, { recursive: true });
  return [near, far];
}
