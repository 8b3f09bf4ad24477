import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Counts the system calls of the main thread of a process by kind, with strace. */
export class SystemCalls {
  readonly #child: ChildProcess;
  readonly #file: string;

  private constructor(child: ChildProcess, file: string) {
    this.#child = child;
    this.#file = file;
  }

  /** Whether strace is installed and may be used here. */
  static isPossible(): boolean {
    return spawnSync('strace', ['-c', '-o', '/dev/null', 'true']).status === 0;
  }

  /** `file` takes the counts. Undefined if the system forbids it. */
  static async begin(pid: number, file: string): Promise<SystemCalls | undefined> {
    const child = spawn('strace', ['-c', '-o', file, '-p', String(pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const isAttached = await new Promise<boolean>((resolved) => {
      child.stderr?.on('data', (text) => String(text).includes(' attached') && resolved(true));
      child.once('error', () => resolved(false));
      child.once('exit', () => resolved(false));
    });
    return isAttached ? new SystemCalls(child, file) : undefined;
  }

  async end(): Promise<Readonly<Record<string, number>>> {
    const exited = new Promise((resolved) => this.#child.once('exit', resolved));
    this.#child.kill('SIGINT');
    await exited;
    return parseSummary(readFileSync(this.#file, 'utf8'));
  }
}

/** Calls by kind, of a summary of strace. */
export function parseSummary(summary: string): Record<string, number> {
  const rows = summary
    .split('\n')
    .map((line) => /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/.exec(line))
    .filter((row) => row !== null && row[2] !== 'total');
  return Object.fromEntries(rows.map((row) => [row?.[2] ?? '', Number(row?.[1])]));
}
