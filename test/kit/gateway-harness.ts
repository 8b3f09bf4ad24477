import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { openGateway } from '../../src/app/main.ts';
import type { FollowersPace } from '../../src/app/open-following.ts';
import { KNOWN_PROVIDERS } from '../../src/catalog/providers/known-providers.ts';
import { requireConfiguration } from '../../src/config/load.ts';
import type { HttpTimes } from '../../src/http/dependencies.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { openLog } from '../../src/kit/log/log.ts';
import type { LogLevel } from '../../src/kit/log/log-level.ts';
import type { Clock } from '../../src/kit/time/clock.ts';
import type { Stage } from '../../src/stages/stage.ts';

export interface TestGateway {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** The base address. */
  readonly url: string;
  readonly apiKey: string;
  readonly managementKey: string;
  readonly dataDir: string;
  readonly configFile: string;
  /** Every log line so far, as text. */
  readonly logText: () => string;
  /** Log lines with a message. */
  logged(message: string): Record<string, unknown>[];
  /** A request to a path below the base address, with the API key unless another is given. */
  fetch(path: string, init?: RequestInit & { key?: string | null }): Promise<Response>;
  /** POSTs JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/** One process has its own contents in memory, so that they are there however late they are written. */
const SOON = { everyMs: 50, holdMs: 100 };

/** Tests of anything but health let endpoints fail as often as they like. */
const UNTIRING = { cooldown: { failures: 1000 } };

export interface TestOptions {
  readonly times?: Partial<HttpTimes>;
  readonly env?: Record<string, string>;
  /** Default: a free one. */
  readonly port?: number;
  /** Least important lines that are written to the log; default: all. */
  readonly logLevel?: LogLevel;
  /** Clock of output items. */
  readonly itemClock?: Pick<Clock, 'monotonic'>;
  /** Clock of the health of endpoints. */
  readonly healthClock?: Clock;
  /** Longest wait for limits and routing memory that gateways share. */
  readonly sharedMemoryLimitMs?: number;
  /** How long the model of a classifier may take, milliseconds. */
  readonly classifierMs?: number;
  /** How soon destinations and classifiers are told of a generation; default: sooner than those that ship. */
  readonly followersPace?: FollowersPace;
  /** Stages besides those that ship. */
  readonly stages?: readonly Stage[];
  /** Fills the data directory before it is opened. */
  readonly prepare?: (dataDir: string) => Promise<void>;
}

/** A whole gateway on a free port of the loopback interface, with its own data directory. */
export async function openTestGateway(
  config: JsonObject = {},
  options: TestOptions = {},
): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  const configFile = join(dataDir, 'signalbox.yaml');
  await options.prepare?.(dataDir);
  writeFileSync(configFile, stringify({ routing: UNTIRING, ...config }));
  const apiKey = 'sk-sb-v1-api-key-of-the-tests';
  const managementKey = 'sk-sb-v1-management-key-of-the-tests';
  const load = {
    flags: { config: configFile, dataDir, port: String(options.port ?? 0) },
    env: { SIGNALBOX_API_KEY: apiKey, SIGNALBOX_MANAGEMENT_KEY: managementKey, ...options.env },
    knownProviders: KNOWN_PROVIDERS,
  };
  const lines: string[] = [];
  const log = openLog({
    level: options.logLevel ?? 'debug',
    readable: false,
    write: (line) => lines.push(line),
    now: () => Date.now(),
  });
  const gateway = await openGateway({
    loaded: requireConfiguration(load),
    load,
    log,
    ...(options.times !== undefined && { times: options.times }),
    ...(options.sharedMemoryLimitMs !== undefined && { sharedMemoryLimitMs: options.sharedMemoryLimitMs }),
    ...(options.itemClock !== undefined && { itemClock: options.itemClock }),
    ...(options.healthClock !== undefined && { healthClock: options.healthClock }),
    ...(options.classifierMs !== undefined && { classifierMs: options.classifierMs }),
    followersPace: options.followersPace ?? SOON,
    ...(options.stages !== undefined && { stages: options.stages }),
  });
  const origin = `http://127.0.0.1:${gateway.port}`;
  const url = `${origin}/api/v1`;
  let closing: Promise<void> | undefined;
  const drain = (limitMs: number) => {
    closing ??= gateway.close(limitMs);
    return closing;
  };
  const send: TestGateway['fetch'] = (path, { key = apiKey, headers, ...init } = {}) =>
    fetch(url + path, {
      ...init,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(headers as Record<string, string>),
      },
    });
  return {
    origin,
    url,
    apiKey,
    managementKey,
    dataDir,
    configFile,
    logText: () => lines.join(''),
    logged: (message) =>
      lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line.message === message),
    fetch: send,
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    drain,
    async close() {
      await drain(0);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The events of a stream: name, parsed data (`[DONE]` as a string), in order. */
export async function readEvents(response: Response): Promise<{ event?: string | undefined; data: any }[]> {
  const text = await response.text();
  return text
    .split('\n\n')
    .filter((block) => block.includes('data:'))
    .map((block) => {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      const data = field('data') ?? '';
      return { event: field('event'), data: data === '[DONE]' ? data : JSON.parse(data) };
    });
}
