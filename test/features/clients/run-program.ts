import { spawn } from 'node:child_process';

/** Milliseconds after which a program that still runs is ended. */
const LIMIT_MS = 90_000;

export interface RunWish {
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** What the program reads from its standard input. */
  readonly input?: string;
  /** Exit codes that are no failure. */
  readonly codes?: readonly number[];
}

/** Runs a program to its end and gives what it printed; rejects with all of it when it fails or takes too long. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { cwd, env, input = '', codes = [0] }: RunWish,
): Promise<string> {
  // A process group of its own, so that its children end with it.
  const child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  // A program may end without having read it.
  child.stdin.on('error', () => {}).end(input);
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child.pid);
  }, LIMIT_MS);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearTimeout(timer));
  endGroup(child.pid);
  if (code !== null && codes.includes(code)) return printed.stdout;
  const reason = isLate ? `was ended after ${LIMIT_MS} ms` : `ended with ${code}`;
  throw new Error(`${file} ${reason}\n${printed.stdout}\n${printed.stderr}`);
}

/** Ends a program with all that it started. */
export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
