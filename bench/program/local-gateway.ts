import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const PROGRAM = resolve('dist/cli/signalbox.js');

/** A key that every started gateway has. */
export const API_KEY = 'sk-sb-v1-key-of-the-bench';

const MAX_SOCKETS = 400;

/** A request of 2 KB for the model of a started gateway. */
export const BODY = JSON.stringify({
  model: 'local/one',
  messages: [{ role: 'user', content: 'x'.repeat(2_000) }],
});

/** An answer of an upstream to it, in one piece. */
export const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'one',
  choices: [{ index: 0, message: { role: 'assistant', content: 'y'.repeat(200) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 500, completion_tokens: 50, total_tokens: 550 },
});

/** A gateway as it ships, with one model of a local upstream, on a folder of its own. */
export interface LocalGateway {
  readonly child: ChildProcess;
  /** Its folder, with the data directory `data`. */
  readonly folder: string;
  readonly url: URL;
  readonly agent: Agent;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

/** How a gateway is started. */
export interface LocalGatewayOptions {
  /** The upstream's port on this machine. */
  readonly upstreamPort: number;
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Further members of the configuration. */
  readonly config?: object;
  /** Options of Node. */
  readonly nodeFlags?: readonly string[];
}

export async function startLocalGateway(options: LocalGatewayOptions): Promise<LocalGateway> {
  const { upstreamPort, workers = 1, env = {}, config = {}, nodeFlags = [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  writeFileSync(
    join(folder, 'signalbox.yaml'),
    JSON.stringify({ ...configuration(upstreamPort), ...config }),
  );
  const args = [...nodeFlags, PROGRAM, '--port', '0', '--workers', String(workers)];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', SIGNALBOX_API_KEY: API_KEY, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const address = await new Promise<string>((resolved, reject) => {
    let log = '';
    child.stderr?.on('data', (bytes) => {
      if (log.length < 100_000) log += bytes;
      const found = /"message":"ready","address":"([^"]+)"/.exec(log)?.[1];
      if (found !== undefined) resolved(found);
    });
    child.once('exit', () => reject(new Error(`the gateway did not start: ${log}`)));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  return {
    child,
    folder,
    url: new URL(address),
    agent,
    async close() {
      agent.destroy();
      const exited = new Promise((resolved) => child.once('exit', resolved));
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(port: number): object {
  return {
    providers: [
      {
        slug: 'local',
        name: 'Local',
        dialect: 'openai-chat',
        base_url: `http://127.0.0.1:${port}/v1`,
        api_key: 'none',
      },
    ],
    models: [
      {
        id: 'local/one',
        context_length: 100_000,
        endpoints: [{ provider: 'local', pricing: { prompt: '0.000001', completion: '0.000002' } }],
      },
    ],
  };
}

/** Sends a request; resolves with the moment of the first byte of its body, and the milliseconds to its end. */
export function ask(
  { url, agent }: LocalGateway,
  body: string,
  key = API_KEY,
): Promise<{ readonly firstAt: number; readonly tookMs: number }> {
  const begun = performance.now();
  return new Promise((resolved, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const request = send(`${url}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      let firstAt = 0;
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.on('data', () => {
        if (firstAt === 0) firstAt = performance.now();
      });
      response.on('end', () => resolved({ firstAt, tookMs: performance.now() - begun }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
