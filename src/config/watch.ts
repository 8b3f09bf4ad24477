import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../kit/log/log.ts';
import { fileVersion } from './file-version.ts';
import { ConfigurationError, type LoadedConfiguration, type Loading } from './load.ts';
import { type Problem, problemFields, problemLine } from './problem.ts';
import type { Config } from './schema/schema.ts';

/** Keys that are read only at the start; a change needs a restart. */
export const RESTART_KEYS: readonly (readonly string[])[] = [
  ['vendor'],
  ['server', 'base_path'],
  ['server', 'tls'],
  ['server', 'workers'],
  ['keys', 'prefix'],
  ['storage'],
];

/** Polling interval. Polling notices every way of saving: in place, by rename, by a moved symlink. */
const POLL_MS = 250;

/** Delay after the last change, so that a file written in pieces is read whole. */
const SETTLE_MS = 150;

export interface WatchOptions {
  readonly initial: LoadedConfiguration;
  readonly load: () => Loading | Promise<Loading>;
  /**
   * Applies a new configuration, in which keys that need a restart keep their running values. If it throws, the running
   * configuration stays.
   */
  readonly apply: (loaded: LoadedConfiguration) => void | Promise<void>;
  readonly log: Log;
}

/** The configuration in force, and the file on disk. */
export interface ConfigurationState {
  /** Since when the configuration is in force, milliseconds of the monotonic clock. */
  readonly inForceSinceMs: number;
  /** The file on disk was refused the last time it was read, so that an older configuration stays in force. */
  readonly isFileRefused: boolean;
  /** The last reading of the file after the start; undefined = none yet. */
  readonly lastReload: Reload | undefined;
}

/** How a reading of the file after the start ended. */
export interface Reload {
  /** Epoch milliseconds. */
  readonly atMs: number;
  /** Why the running configuration stays; empty = the file was taken into use. */
  readonly problems: readonly Problem[];
  /** Changed keys that need a restart. */
  readonly waitingKeys: readonly string[];
}

export interface ConfigurationWatch {
  readonly state: ConfigurationState;
  readonly running: LoadedConfiguration;
  /** Loads and applies the file. True if it was applied. Never rejects. */
  reload(): Promise<boolean>;
  /** Nothing is applied after this. */
  close(): void;
}

/** Reloads the configuration on SIGHUP and when its file changes. An invalid file is logged and ignored. */
export function watchConfiguration({ initial, load, apply, log }: WatchOptions): ConfigurationWatch {
  let running = initial;
  let settling: NodeJS.Timeout | undefined;
  let isClosed = false;
  let state: ConfigurationState = {
    inForceSinceMs: performance.now(),
    isFileRefused: false,
    lastReload: undefined,
  };

  const refuseFor = (problems: readonly Problem[]): false => {
    state = { ...state, isFileRefused: true, lastReload: { atMs: Date.now(), problems, waitingKeys: [] } };
    return false;
  };

  const logRefusal = (reason: string, fields: object = {}) => {
    log.error('the configuration was not reloaded; the running one stays', {
      file: running.watchedFile,
      reason,
      ...fields,
    });
  };

  const refuse = (reason: string): false => {
    logRefusal(reason);
    return refuseFor([{ path: '', message: reason }]);
  };

  const refuseFile = ({ problems, file }: Pick<ConfigurationError, 'problems' | 'file'>) => {
    for (const problem of problems) logRefusal(problemLine(problem), problemFields(problem, file));
    return refuseFor(problems);
  };

  const applyLoaded = async (loading: Loading): Promise<boolean> => {
    if (!loading.ok) return refuseFile(loading);
    if (running.file !== undefined && loading.loaded.file === undefined) return refuse('the file is gone');
    // Editors may truncate a file before writing it, and an empty file would switch everything off.
    if (loading.loaded.isEmpty && !running.isEmpty) return refuse('the file is empty');
    const waiting = restartKeysChanged(running.config, loading.loaded.config);
    const next = { ...loading.loaded, config: keepRestartKeys(running.config, loading.loaded.config) };
    await apply(next);
    running = next;
    state = {
      inForceSinceMs: performance.now(),
      isFileRefused: false,
      lastReload: { atMs: Date.now(), problems: [], waitingKeys: waiting },
    };
    log.info('the configuration was reloaded', { file: next.file });
    if (waiting.length > 0) log.warn('changed keys that need a restart', { keys: waiting });
    for (const warning of next.warnings) log.warn(problemLine(warning), problemFields(warning, next.file));
    return true;
  };

  let seen = initial.version;
  const reloadNow = async (): Promise<boolean> => {
    // A change that a signal has reported is no change for the next poll. One that comes from here on is.
    seen = versionIfReadable(initial.watchedFile) ?? seen;
    try {
      const loading = await load();
      return isClosed ? false : await applyLoaded(loading);
    } catch (error) {
      if (error instanceof ConfigurationError) return refuseFile(error);
      return refuse(error instanceof Error ? error.message : String(error));
    }
  };

  // Reloads run one after another, so that the last read wins; calls during a queued reload share it.
  let last: Promise<boolean> = Promise.resolve(true);
  let next: Promise<boolean> | undefined;
  const reload = (): Promise<boolean> => {
    clearTimeout(settling);
    next ??= last.then(() => {
      next = undefined;
      return reloadNow();
    });
    last = next;
    return next;
  };

  const polling = setInterval(() => {
    const now = versionIfReadable(initial.watchedFile);
    if (now === undefined || now === seen) return;
    seen = now;
    clearTimeout(settling);
    settling = setTimeout(reload, SETTLE_MS).unref();
  }, POLL_MS).unref();
  process.on('SIGHUP', reload);

  return {
    get running() {
      return running;
    },
    get state() {
      return state;
    },
    reload,
    close() {
      isClosed = true;
      clearInterval(polling);
      clearTimeout(settling);
      process.off('SIGHUP', reload);
    },
  };
}

/** Undefined if the file cannot be examined, which does not count as a change. */
function versionIfReadable(path: string): string | undefined {
  try {
    return fileVersion(path);
  } catch {
    return undefined;
  }
}

export function restartKeysChanged(running: Config, next: Config): string[] {
  return RESTART_KEYS.filter((path) => !isDeepStrictEqual(read(running, path), read(next, path))).map(
    (path) => path.join('.'),
  );
}

function keepRestartKeys(running: Config, next: Config): Config {
  return RESTART_KEYS.reduce((config, path) => write(config, path, read(running, path)), next);
}

function read(source: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], source);
}

function write<T extends object>(target: T, [name, ...rest]: readonly string[], value: unknown): T {
  if (name === undefined) return target;
  const member = (target as Record<string, unknown>)[name];
  return { ...target, [name]: rest.length === 0 ? value : write(member as object, rest, value) };
}
