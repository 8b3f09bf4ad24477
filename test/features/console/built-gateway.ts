import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestGateway } from '../../kit/gateway-harness.ts';

/** The built program as a process, outside the tests: for benches and pictures. */
export interface BuiltGateway extends Pick<TestGateway, 'fetch' | 'origin'> {
  readonly managementKey: string;
  close(): Promise<void>;
}

interface Start {
  readonly dataDir: string;
  readonly configFile?: string;
  /** Default: a free one. */
  readonly port?: number;
}

const MANAGEMENT_KEY = 'sk-sb-v1-management-key-of-the-bench';
const API_KEY = 'sk-sb-v1-api-key-of-the-bench';

/** Starts it from the root of the repository on an installation, and waits until it is ready. */
export async function startBuiltGateway({ dataDir, configFile, port = 0 }: Start): Promise<BuiltGateway> {
  const config = configFile === undefined ? [] : ['--config', configFile];
  const child = spawn(
    process.execPath,
    [join('dist', 'cli', 'signalbox.js'), 'serve', '--port', String(port), '--data-dir', dataDir, ...config],
    {
      env: {
        PATH: process.env.PATH ?? '',
        SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
        SIGNALBOX_API_KEY: API_KEY,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let log = '';
  for await (const chunk of child.stderr) {
    log += String(chunk);
    const line = log.split('\n').find((text) => text.includes('"ready"') && text.endsWith('}'));
    if (line === undefined) continue;
    child.stderr.resume();
    const { origin } = new URL((JSON.parse(line) as { address: string }).address);
    return {
      origin,
      managementKey: MANAGEMENT_KEY,
      fetch: (path, { key = API_KEY, headers, ...init } = {}) =>
        fetch(`${origin}/api/v1${path}`, {
          ...init,
          headers: { ...headers, authorization: `Bearer ${key}` },
        }),
      close: () => ended(child),
    };
  }
  throw new Error(`the gateway did not start:\n${log}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}
