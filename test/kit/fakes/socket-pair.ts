import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChannelSockets } from '../../../src/workers/channel/channel.ts';

/** Two connected local sockets. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
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

/** Both ends of a channel: a socket pair for each direction. */
export async function channelEnds(): Promise<readonly [ChannelSockets, ChannelSockets]> {
  const [nearIn, farOut] = await socketPair();
  const [nearOut, farIn] = await socketPair();
  return [
    { incoming: nearIn, outgoing: nearOut },
    { incoming: farIn, outgoing: farOut },
  ];
}

/** Ends an end of a channel as the death of its process does. */
export function dropEnd({ incoming, outgoing }: ChannelSockets): void {
  incoming.destroy();
  outgoing.destroy();
}
