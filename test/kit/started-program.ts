import { type ChildProcess, spawn } from 'node:child_process';
import { expect, vi } from 'vitest';
import { PROGRAM } from './program.ts';

/** The program as it ships, at work. */
export interface StartedProgram {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Where its interface begins. */
  readonly url: string;
}

/**
 * Starts it, or another build of it, in a folder, with nothing of this process's environment but the path, and waits
 * until it is ready.
 */
export async function startProgram(
  folder: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
  program = PROGRAM,
): Promise<StartedProgram> {
  const child = spawn(process.execPath, [program, '--port', '0', ...flags], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  await vi.waitFor(() => expect(stderr).toContain('"ready"'), { timeout: 50_000 });
  const line = stderr.split('\n').find((text) => text.includes('"ready"')) ?? '';
  const { address } = JSON.parse(line) as { address: string };
  return { child, stdout: () => stdout, stderr: () => stderr, url: address };
}

/** Sends a signal to a process and waits for its end. */
export function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.kill(signal);
  });
}

/** The keys that a first start prints: the one for management, then the one for requests. */
export function keysIn(text: string): readonly string[] {
  const named = [/Management key +(sk-sb-v1-[0-9a-f]{64})/, /API key +(sk-sb-v1-[0-9a-f]{64})/];
  return named.flatMap((pattern) => pattern.exec(text)?.[1] ?? []);
}
