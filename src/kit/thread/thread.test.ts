import { expect, it } from 'vitest';
import { isThreadTooBig, Thread, ThreadEnded, ThreadTooSlow } from './thread.ts';

/** A thread whose program is `body`, with `port` for its messages. */
function threadOf(body: string, limits = {}): Thread<string, string> {
  const program = `import { parentPort as port } from 'node:worker_threads';\n${body}`;
  return new Thread(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { limits });
}

/** Answers every question with itself, in turn from the last to the first. */
const ECHO = `
const asked = [];
port.on('message', (message) => {
  if (message === null) return port.close();
  asked.push(message);
  if (asked.length === 2) for (const { id, question } of asked.reverse()) port.postMessage({ id, answer: question });
});`;

it('has each question answered, in whatever order answers come', async () => {
  const thread = threadOf(ECHO);
  expect(await Promise.all([thread.ask('a'), thread.ask('b')])).toEqual(['a', 'b']);
  await thread.close(10_000);
  expect(thread.isEnded).toBe(true);
  await expect(thread.ask('c')).rejects.toThrow(ThreadEnded);
});

it('rejects with what the program threw, and goes on', async () => {
  const thread = threadOf(`port.on('message', ({ id }) => {
    port.postMessage({ id, failure: { message: 'locked', members: { code: 'BUSY' } } });
  });`);
  await expect(thread.ask('a')).rejects.toMatchObject({ message: 'locked', code: 'BUSY' });
  expect(thread.isEnded).toBe(false);
  await thread.terminate();
});

it('tells the program of an interrupted question, and waits no longer', async () => {
  const thread = threadOf(`let told;
  port.on('message', ({ id, question, interrupted }) => {
    if (interrupted !== undefined) told = interrupted;
    else if (question === 'told?') port.postMessage({ id, answer: String(told) });
  });`);
  const controller = new AbortController();
  const waiting = thread.ask('a', { signal: controller.signal });
  controller.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  expect(await thread.ask('told?')).toBe('1');
  await thread.terminate();
});

it('ends a thread that takes too long, and says so to all who wait', async () => {
  const thread = threadOf(`port.on('message', () => {});`);
  const other = thread.ask('b');
  await Promise.all([
    expect(thread.ask('a', { limitMs: 5 })).rejects.toThrow(ThreadTooSlow),
    expect(other).rejects.toThrow(ThreadTooSlow),
  ]);
  expect(thread.isEnded).toBe(true);
});

it('rejects when the program fails or ends', async () => {
  const failing = threadOf(`port.on('message', () => { throw new Error('broken'); });`);
  const failure = await failing.ask('a').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ThreadEnded);
  expect(failure).toMatchObject({ cause: { message: 'broken' } });
  expect(isThreadTooBig(failure)).toBe(false);
  await expect(threadOf(`port.on('message', () => process.exit(0));`).ask('a')).rejects.toThrow('has ended');
});

it('knows a thread that needed more memory than it may have', async () => {
  const greedy = threadOf(
    `port.on('message', () => { const all = []; for (;;) all.push(new Array(1000).fill({})); });`,
    { maxOldGenerationSizeMb: 16 },
  );
  expect(isThreadTooBig(await greedy.ask('a').catch((error: unknown) => error))).toBe(true);
});
