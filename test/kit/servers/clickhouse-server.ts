import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, it } from 'vitest';
import { freePort } from '../fakes/free-port.ts';
import { memoryDirectory } from '../memory-directory.ts';

/** A server of our own in a temporary directory, that lives until it is stopped or this process ends. */
export interface ClickhouseServer {
  /** A CLICKHOUSE_URL whose database does not exist yet. */
  newDatabase(): string;
  /** Runs a statement and gives the text of its answer. */
  ask(sql: string): Promise<string>;
  /** Starts it again after `kill`; does nothing while it runs. */
  start(): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Stops it (SIGSTOP) until `resume`. Resolves when it no longer answers: its threads go on for a moment. */
  pause(): Promise<void>;
  resume(): void;
  /** Ends it and removes what it has written. */
  remove(): Promise<void>;
}

/** A server that does not answer for so long has stopped. */
const SILENT_MS = 500;

const READY_MS = 30_000;
const USER = 'tester';
const PASSWORD = 'clickhouse-secret-8457';

/**
 * A server for the tests of one file. Without one, a skipped test and a line of output have the reason.
 */
export async function clickhouseForTests(): Promise<ClickhouseServer | undefined> {
  const started = await startClickhouse().catch((error: Error) => error.message);
  if (typeof started === 'string') {
    if (process.env.CI === 'true' && process.getuid?.() === 0) {
      throw new Error(`ClickHouse must be tested here: ${started}`);
    }
    it('has a ClickHouse to be tested on', ({ skip }) => skip(`ClickHouse is not tested: ${started}`));
    process.stderr.write(`ClickHouse is not tested: ${started}\n`);
    return undefined;
  }
  afterAll(() => started.remove());
  return started;
}

async function startClickhouse(): Promise<ClickhouseServer> {
  const command = commandOf();
  const directory = mkdtempSync(join(memoryDirectory(), 'signalbox-clickhouse-'));
  const port = await freePort();
  writeSettings(directory, port);
  let child: ChildProcess | undefined;
  const atExit = () => child?.kill('SIGKILL');
  process.once('exit', atExit);
  const exited = () =>
    new Promise<void>((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once('exit', () => resolve());
    });
  const ask = async (sql: string) => {
    const headers = { 'x-clickhouse-user': USER, 'x-clickhouse-key': PASSWORD };
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: sql });
    const text = await reply.text();
    if (!reply.ok) throw new Error(text);
    return text.trim();
  };
  const start = async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) return;
    const [file, ...parameters] = command;
    child = spawn(file, [...parameters, `--config-file=${join(directory, 'config.xml')}`], {
      cwd: directory,
      stdio: 'ignore',
    });
    const until = Date.now() + READY_MS;
    while ((await ask('SELECT 1').catch(() => '')) !== '1') {
      if (child.exitCode !== null || Date.now() > until) throw new Error('clickhouse-server does not start');
      await sleep(20);
    }
  };
  const kill = async () => {
    child?.kill('SIGKILL');
    await exited();
  };
  const pause = async () => {
    child?.kill('SIGSTOP');
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(SILENT_MS) }).then(
        () => true,
        () => false,
      );
    while (await answers()) await sleep(20);
  };
  const remove = async () => {
    await kill();
    process.off('exit', atExit);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  let databases = 0;
  return {
    newDatabase() {
      databases += 1;
      return `http://${USER}:${PASSWORD}@127.0.0.1:${port}/test_${databases}`;
    },
    ask,
    start,
    kill,
    pause,
    resume: () => child?.kill('SIGCONT'),
    remove,
  };
}

/** The program: `clickhouse-server` of Debian, or `clickhouse server` of newer packages. */
function commandOf(): [string, ...string[]] {
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];
  const found = (name: string) => places.map((place) => join(place, name)).find((file) => existsSync(file));
  const server = found('clickhouse-server');
  if (server !== undefined) return [server];
  const all = found('clickhouse');
  if (all !== undefined) return [all, 'server'];
  throw new Error('neither clickhouse-server nor clickhouse is in PATH');
}

/** As few threads and caches as it takes: several of these may run at once. The time zone is not that of events. */
function writeSettings(directory: string, port: number): void {
  const path = (name: string) => {
    mkdirSync(join(directory, name));
    return `${join(directory, name)}/`;
  };
  writeFileSync(
    join(directory, 'config.xml'),
    `<?xml version="1.0"?>
<yandex>
  <logger><level>error</level><log>${join(directory, 'log')}</log><errorlog>${join(directory, 'errors')}</errorlog></logger>
  <http_port>${port}</http_port>
  <listen_host>127.0.0.1</listen_host>
  <path>${path('data')}</path>
  <tmp_path>${path('tmp')}</tmp_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <timezone>America/New_York</timezone>
</yandex>
`,
  );
  writeFileSync(
    join(directory, 'users.xml'),
    `<?xml version="1.0"?>
<yandex>
  <profiles><default><max_threads>2</max_threads></default></profiles>
  <quotas><default/></quotas>
  <users><${USER}>
    <password>${PASSWORD}</password>
    <networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile>
    <quota>default</quota>
  </${USER}></users>
</yandex>
`,
  );
}
