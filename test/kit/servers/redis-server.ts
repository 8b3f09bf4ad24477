import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, it } from 'vitest';

/** A server of our own on a free port of the loopback interface; nothing is written to disk. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Removes all keys. */
  flush(): Promise<void>;
  /** Starts it again after `kill`, empty and on the same port; has no effect while it runs. */
  start(): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Stops it (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** Sends it one command. */
  command(...words: string[]): Promise<unknown>;
  remove(): Promise<void>;
}

const READY_MS = 10_000;

/**
 * A server for the tests of one file. Without one, a skipped test and a line of output have the reason; where
 * `CI=true`, that fails.
 */
export async function redisForTests(settings: readonly string[] = []): Promise<RedisServer | undefined> {
  const binary = (process.env.PATH ?? '')
    .split(delimiter)
    .map((place) => join(place, 'redis-server'))
    .find(existsSync);
  if (binary === undefined) {
    const reason = 'Redis is not tested: redis-server is not in PATH';
    it('has a Redis to be tested on', ({ skip }) => {
      if (process.env.CI === 'true') throw new Error(reason);
      skip(reason);
    });
    process.stderr.write(`${reason}\n`);
    return undefined;
  }
  const server = await startRedis(binary, settings);
  afterAll(() => server.remove());
  return server;
}

async function startRedis(binary: string, settings: readonly string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const isRunning = () => child?.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals) => {
    child?.kill(name);
  };
  const atExit = () => signal('SIGKILL');
  process.once('exit', atExit);
  const command = async (...[name = 'PING', ...words]: string[]) => {
    const client = new Redis({ port, lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call(name, ...words);
    } finally {
      client.disconnect();
    }
  };
  const start = async () => {
    if (isRunning()) return;
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn(binary, [...options, '--dir', directory, ...settings], { stdio: 'ignore' });
    const until = Date.now() + READY_MS;
    for (;;) {
      try {
        await command('PING');
        return;
      } catch (error) {
        // It may want a password, which those who test that know.
        if (error instanceof Error && /^(NOAUTH|WRONGPASS)/.test(error.message)) return;
        if (Date.now() > until) throw error;
        await sleep(20);
      }
    }
  };
  const kill = async () => {
    if (!isRunning()) return;
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    signal('SIGKILL');
    await ended;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    flush: async () => {
      await command('FLUSHALL');
    },
    start,
    kill,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    command,
    async remove() {
      signal('SIGCONT');
      await kill();
      process.off('exit', atExit);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
