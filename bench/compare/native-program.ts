import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Workbench } from './workbench.ts';

/** A program of the benchmark, ready to be started. */
export interface NativeProgram {
  readonly command: readonly string[];
  readonly language: 'C' | 'Node';
}

/** Compiles `bench/compare/NAME.c` where there is a compiler, else takes what does the same in Node, more slowly. */
export function nativeProgram(workbench: Workbench, built: string, name: 'upstream' | 'load'): NativeProgram {
  const program = join(workbench.folder, name);
  const source = join('bench', 'compare', `${name}.c`);
  const compiled = spawnSync('cc', ['-O2', '-o', program, source], { encoding: 'utf8' });
  if (compiled.status === 0) return { command: [program], language: 'C' };
  console.error(`bench: ${name} runs in Node, because cc does not compile it: ${compiled.stderr ?? 'no cc'}`);
  return { command: [process.execPath, join(built, `${name}-fallback.js`)], language: 'Node' };
}
