import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Pinning, type Place, pinnedCommand } from './pinning.ts';

/** A program that was started here and is ended here. */
export interface StartedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Its output on stderr, and on stdout unless that is read. */
  readonly logFile: string;
  /** The lines of its stdout, where they were asked for. */
  readonly lines: AsyncIterator<string>;
}

interface StartOptions {
  readonly place: Place;
  readonly env?: Readonly<Record<string, string>>;
  readonly readsLines?: boolean;
}

/** How long a process may take to end after SIGTERM. */
const END_MS = 5000;

/** A folder and the processes of one run: nothing of either is left when it is closed. */
export class Workbench {
  readonly folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  readonly #processes = new Set<StartedProcess>();
  readonly #pinning: Pinning;
  #closing = false;

  constructor(pinning: Pinning) {
    this.#pinning = pinning;
  }

  /** Everything is being taken down: what fails now fails for that reason. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /** Writes a file into the folder and answers its path. */
  write(name: string, content: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  start(
    name: string,
    command: readonly string[],
    { place, env, readsLines = false }: StartOptions,
  ): StartedProcess {
    if (this.#closing) throw new Error(`${name} is not started any more`);
    const [program = '', ...args] = pinnedCommand(this.#pinning, place, command);
    const logFile = join(this.folder, `${name}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ['pipe', readsLines ? 'pipe' : log, log],
    });
    closeSync(log);
    child.on('error', (error) => console.error(`bench: ${name} cannot be started: ${error.message}`));
    const started: StartedProcess = {
      pid: child.pid ?? 0,
      child,
      logFile,
      lines: linesOf(child),
    };
    this.#processes.add(started);
    child.once('exit', () => this.#processes.delete(started));
    return started;
  }

  /** Asks a process to end, and ends it when it does not. */
  async end(started: StartedProcess): Promise<void> {
    const { child } = started;
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await Promise.race([gone, sleep(END_MS, undefined, { ref: false })]);
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await gone;
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#processes].map((started) => this.end(started)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function linesOf({ stdout }: ChildProcess): AsyncIterator<string> {
  if (stdout !== null) return createInterface({ input: stdout })[Symbol.asyncIterator]();
  return { next: async () => ({ done: true, value: undefined }) };
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject()));
    });
  });
}

/** Waits until a server answers a path with a status below 500. Throws where its process ends, or after a minute. */
export async function untilReady(name: string, started: StartedProcess, url: string): Promise<void> {
  const until = Date.now() + 60_000;
  while (Date.now() < until && started.child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response !== undefined && response.status < 500) return;
    await sleep(50);
  }
  const said = readFileSync(started.logFile, 'utf8').trim().split('\n').at(-1);
  throw new Error(`${name} did not get ready${said ? `: ${said}` : ''}`);
}
