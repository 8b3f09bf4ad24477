import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { withLentReads } from './lent-reads.ts';

const open: { close(): void }[] = [];

afterEach(() => {
  for (const thing of open.splice(0)) thing.close();
});

/** Somebody who connects, and the socket that is taken in. */
async function connected(): Promise<{ readonly caller: Socket; readonly taken: Socket }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [taken] = (await once(server, 'connection')) as [Socket];
  open.push(server, { close: () => caller.destroy() }, { close: () => taken.destroy() });
  return { caller, taken };
}

/** One of another Node: what it is made around cannot read into a buffer of ours. */
function strange(socket: Socket): Socket {
  if ('_handle' in socket) Object.assign(socket._handle as object, { useUserBuffer: undefined });
  return socket;
}

/** What is read, as text, and a way to wait until so much of it is there. */
function reading() {
  let text = '';
  let wake: () => void = () => {};
  return {
    text: () => text,
    tell: (bytes: Buffer, length: number) => {
      text += bytes.toString('latin1', 0, length);
      wake();
    },
    until: async (length: number) => {
      while (text.length < length) await new Promise<void>((resolve) => (wake = resolve));
      return text;
    },
  };
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

const KINDS = [
  ['into a buffer that is lent', (socket: Socket) => socket],
  ['into its own where it has to', strange],
] as const;

test.each(KINDS)('reads %s', async (_kind, made) => {
  const { caller, taken } = await connected();
  const { tell, until } = reading();
  const buffer = Buffer.alloc(8);
  const socket = withLentReads(made(taken), buffer, tell);
  open.push({ close: () => socket.destroy() });
  caller.write('more than a buffer holds');
  expect(await until(24)).toBe('more than a buffer holds');
});

test.each(KINDS)('answers %s whoever has ended its side', async (_kind, made) => {
  const { caller, taken } = await connected();
  const { tell, until } = reading();
  const socket = withLentReads(made(taken), Buffer.alloc(64), tell);
  const closed = closeOf(socket);
  caller.end('question');
  const heard = once(caller, 'data');
  await Promise.all([until(8), once(socket, 'end')]);
  socket.end('answer');
  expect(String((await heard)[0])).toBe('answer');
  await closed;
});

test.each(KINDS)('pauses and goes on, reading %s', async (_kind, made) => {
  const { caller, taken } = await connected();
  const { text, tell, until } = reading();
  const socket = withLentReads(made(taken), Buffer.alloc(64), tell);
  open.push({ close: () => socket.destroy() });
  caller.write('first');
  await until(5);
  socket.pause();
  caller.write(' second');
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect([text(), socket.isPaused()]).toEqual(['first', true]);
  socket.resume();
  expect(await until(12)).toBe('first second');
});

test('all read into the same buffer', async () => {
  const callers = await Promise.all([connected(), connected()]);
  const buffer = Buffer.alloc(64);
  const seen: Buffer[] = [];
  const all = reading();
  for (const { taken } of callers) {
    const socket = withLentReads(taken, buffer, (bytes, length) => {
      seen.push(bytes);
      all.tell(bytes, length);
    });
    open.push({ close: () => socket.destroy() });
  }
  for (const { caller } of callers) caller.write('abc');
  expect(await all.until(6)).toBe('abcabc');
  expect(seen.every((bytes) => bytes === buffer)).toBe(true);
});

test('a caller that is gone is said to be', async () => {
  const { caller, taken } = await connected();
  const socket = withLentReads(taken, Buffer.alloc(64), () => {});
  const problems: unknown[] = [];
  socket.on('error', (error) => problems.push(error));
  const closed = closeOf(socket);
  caller.resetAndDestroy();
  await closed;
  expect(problems).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
});
