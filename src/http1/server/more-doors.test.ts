import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Door, MoreDoors } from './more-doors.ts';

const opened: (Server | Socket)[] = [];

afterEach(() => {
  for (const one of opened.splice(0)) {
    if ('destroy' in one) one.destroy();
    else one.close();
  }
});

function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    opened.push(server);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

/** A server and so many doors besides, all of them open, and had by nobody else. */
async function withDoors(server: Server, count: number): Promise<Server[]> {
  const servers = [server];
  let doors: MoreDoors | undefined;
  await new Promise<void>((resolve) => {
    doors = new MoreDoors(server, count, (door) => {
      const other = createServer().listen(door);
      opened.push(other);
      servers.push(other);
      if (servers.length === count + 1) resolve();
    });
  });
  await doors?.stop();
  return servers;
}

/** Connects so often, in one turn of the loop. */
function callers(count: number, server: Server): void {
  const { port } = server.address() as AddressInfo;
  for (let index = 0; index < count; index++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    opened.push(socket);
  }
}

/** How many connections each turn of the loop brings, until all are there. */
async function takenByTurn(servers: readonly Server[], count: number): Promise<number[]> {
  let taken = 0;
  for (const server of servers) {
    server.on('connection', (socket) => {
      opened.push(socket);
      taken++;
    });
  }
  const byTurn: number[] = [];
  for (let before = 0; taken < count; before = taken) {
    await nextTurn();
    if (taken > before) byTurn.push(taken - before);
  }
  return byTurn;
}

describe('more doors', () => {
  it('take as many connections in a turn of the event loop as there are doors', async () => {
    const alone = await listening();
    callers(40, alone);
    expect(Math.max(...(await takenByTurn([alone], 40)))).toBe(1);

    const servers = await withDoors(await listening(), 7);
    callers(40, servers[0] as Server);
    expect(Math.max(...(await takenByTurn(servers, 40)))).toBe(8);
  });

  it('leave the place free when all of them are closed', async () => {
    const server = await listening();
    const { port } = server.address() as AddressInfo;
    const servers = await withDoors(server, 3);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    const next = createServer();
    opened.push(next);
    await new Promise<void>((resolve, reject) => {
      next.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  });

  it('are done without where no process can be begun', async () => {
    const server = await listening();
    const { execPath } = process;
    process.execPath = 'not\0a path';
    try {
      const doors = new MoreDoors(server, 3, () => {});
      await doors.stop();
    } finally {
      process.execPath = execPath;
    }
    callers(1, server);
    expect(await takenByTurn([server], 1)).toEqual([1]);
  });

  it('are not opened any more once they were stopped', async () => {
    const server = await listening();
    const doors: Door[] = [];
    await new MoreDoors(server, 3, (door) => doors.push(door)).stop();
    expect(doors).toEqual([]);
    callers(1, server);
    expect(await takenByTurn([server], 1)).toEqual([1]);
  });
});
