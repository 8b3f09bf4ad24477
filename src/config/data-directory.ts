import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from './parse/environment.ts';

/** Where the program runs, as far as it decides about its data directory. */
export interface ProgramPlace {
  readonly env: Environment;
  readonly cwd: string;
  /** True if a package manager installed the program; false in a clone. */
  readonly isInstalled: boolean;
}

/** A file that every data directory has. */
const MARKER = 'hash-key';

/**
 * The default data directory: `data` in the working directory of a clone, or where there is one already. An installed
 * program may be started anywhere, so it keeps its data in the user's directory for such (XDG).
 */
export function defaultDataDirectory({ env, cwd, isInstalled }: ProgramPlace): string {
  const here = resolve(cwd, 'data');
  if (!isInstalled || existsSync(join(here, MARKER))) return here;
  const { XDG_DATA_HOME: shared = '', HOME: home = '' } = env;
  // The standard says that a relative path is invalid and to be ignored.
  const base = isAbsolute(shared) ? shared : join(isAbsolute(home) ? home : homedir(), '.local', 'share');
  return join(base, 'signalbox');
}

/**
 * Whether a package manager put the program on this machine: a copy in `node_modules`, or a link to a clone in a folder
 * of programs (`npm install --global .`). `npx` in a clone links too, but inside a `node_modules`.
 */
export function isInstalledProgram(module: string = import.meta.url, typed: string = process.argv[1] ?? '') {
  const isLink = basename(typed) === 'signalbox' && !typed.includes('/node_modules/');
  return isLink || module.includes('/node_modules/');
}
