import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../src/cli/run.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The program as it ships. */
export const PROGRAM = join(ROOT, 'dist', 'cli', 'signalbox.js');

/** How a run of the program ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the built program to its end, in `cwd`, with nothing of this process's environment but the path. */
export function signalbox(cwd: string, words: readonly string[], env: Record<string, string> = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
    timeout: 50_000,
  });
  return { code: status, out: stdout, err: stderr };
}

/** Runs a command line in this process, which costs a fraction of a process of its own. */
export async function typed(words: readonly string[]): Promise<Ended> {
  const text = { out: '', err: '' };
  const code = await run(words, {
    out: (piece) => {
      text.out += piece;
    },
    err: (piece) => {
      text.err += piece;
    },
  });
  return { code: code ?? null, ...text };
}

/** A process that has the data directory open, with or without the control socket, until it is killed. */
export async function holdDirectory(dataDir: string, listens: boolean): Promise<ChildProcess> {
  const code = `
    import { openInstallation } from ${JSON.stringify(compiled('app/installation.js'))};
    import { listenForCommands } from ${JSON.stringify(compiled('control/listen.js'))};
    import { openLog } from ${JSON.stringify(compiled('kit/log/log.js'))};
    const held = await openInstallation({ dataDir: ${JSON.stringify(dataDir)}, keyPrefix: 'sk-' });
    const log = openLog({ level: 'silent', readable: false, write() {}, now: () => 0 });
    if (${listens}) await listenForCommands(${JSON.stringify(dataDir)}, held, log);
    process.stdout.write('held');
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    child.stdout?.once('data', resolve);
    child.once('exit', () => reject(new Error('the holder ended before it held the directory')));
  });
  return child;
}

/** Kills a process with SIGKILL and waits for its end. */
export async function killHard(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** A module of the program by itself. */
export function compiled(path: string): string {
  const file = join(ROOT, 'build', path);
  if (!existsSync(file)) throw new Error(`${file} is not there: npm test compiles it`);
  return file;
}
