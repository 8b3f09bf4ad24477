import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endGroup } from './run-program.ts';

/** A program that takes lines of JSON and prints lines of JSON. */
export interface RunningProgram {
  send(message: object): void;
  /** The first message of those still to come that fits; rejects when the program ends before. */
  next(fits: (message: any) => boolean): Promise<any>;
  close(): void;
}

export function startProgram(
  file: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> },
): RunningProgram {
  // A process group of its own, so that its children end with it.
  const child: ChildProcess = spawn(file, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  interface Wait {
    readonly fits: (message: any) => boolean;
    readonly resolve: (message: any) => void;
    readonly reject: (reason: Error) => void;
  }
  const waits = new Set<Wait>();
  const printed: string[] = [];
  const note = (line: string) => {
    printed.push(line);
    if (printed.length > 20) printed.shift();
  };
  let hasEnded = false;
  const ended = () => new Error(`${file} ended\n${printed.join('\n')}`);
  child.stderr?.setEncoding('utf8').on('data', note);
  if (child.stdout === null) throw new Error('no output is read');
  createInterface({ input: child.stdout }).on('line', (line) => {
    note(line);
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line);
    for (const wait of waits) {
      if (!wait.fits(message)) continue;
      waits.delete(wait);
      wait.resolve(message);
    }
  });
  child.stdin?.on('error', () => {});
  child.once('error', (error) => note(error.message));
  child.once('close', () => {
    hasEnded = true;
    for (const { reject } of waits) reject(ended());
  });
  return {
    send: (message) => void child.stdin?.write(`${JSON.stringify(message)}\n`),
    next: (fits) =>
      new Promise((resolve, reject) => {
        if (hasEnded) reject(ended());
        else waits.add({ fits, resolve, reject });
      }),
    close: () => endGroup(child.pid),
  };
}
