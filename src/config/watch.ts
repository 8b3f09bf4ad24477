import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../kit/log/log.ts';
import { fileVersion } from './file-version.ts';
import { type LoadedConfiguration, type Loading, problemLine } from './load.ts';
import type { Config } from './schema/schema.ts';

/** Keys that are read once, at the start: a change of one waits for a restart. */
export const RESTART_KEYS: readonly (readonly string[])[] = [
  ['vendor'],
  ['server', 'base_path'],
  ['keys', 'prefix'],
];

/** How often the file is looked at. Looking sees every way of saving: in place, by rename, by a moved symlink. */
const POLL_MS = 250;

/** A file is read this long after its last change, so that one written in pieces is read whole. */
const SETTLE_MS = 150;

export interface WatchOptions {
  readonly initial: LoadedConfiguration;
  /** Reads everything anew. */
  readonly load: () => Loading | Promise<Loading>;
  /**
   * Takes a new configuration into use. Keys that need a restart have the running value in it. When it throws, the
   * running configuration stays.
   */
  readonly apply: (loaded: LoadedConfiguration) => void;
  readonly log: Log;
}

export interface ConfigurationWatch {
  /** Reads the file as it is from now on. True when what it says was taken into use. Never rejects. */
  reload(): Promise<boolean>;
  /** Nothing is taken into use after this. */
  close(): void;
}

/** Re-reads the configuration on SIGHUP and when its file changes. What is broken is logged and changes nothing. */
export function watchConfiguration({ initial, load, apply, log }: WatchOptions): ConfigurationWatch {
  let running = initial;
  let settling: NodeJS.Timeout | undefined;
  let isClosed = false;

  const refuse = (reason: string) => {
    log.error('the configuration was not reloaded; the running one stays', {
      file: running.watchedFile,
      reason,
    });
    return false;
  };

  const takeIntoUse = (loading: Loading): boolean => {
    if (!loading.ok) return refuse(loading.problems.map(problemLine).join('; '));
    if (running.file !== undefined && loading.loaded.file === undefined) return refuse('the file is gone');
    // Whoever saves a file may empty it first; and nobody means to switch everything off by an empty one.
    if (loading.loaded.isEmpty && !running.isEmpty) return refuse('the file is empty');
    const waiting = restartKeysChanged(running.config, loading.loaded.config);
    const next = { ...loading.loaded, config: keepRestartKeys(running.config, loading.loaded.config) };
    apply(next);
    running = next;
    log.info('the configuration was reloaded', { file: next.file });
    if (waiting.length > 0) log.warn('changed keys that need a restart', { keys: waiting });
    for (const warning of next.warnings) log.warn(problemLine(warning));
    return true;
  };

  const reloadNow = async (): Promise<boolean> => {
    try {
      const loading = await load();
      return isClosed ? false : takeIntoUse(loading);
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error));
    }
  };

  // One after the other, so that what was read last is what stays; whoever asks while one waits gets that one.
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

  let seen = initial.version;
  const look = setInterval(() => {
    const now = versionIfReadable(initial.watchedFile);
    if (now === undefined || now === seen) return;
    seen = now;
    clearTimeout(settling);
    settling = setTimeout(reload, SETTLE_MS).unref();
  }, POLL_MS).unref();
  process.on('SIGHUP', reload);

  return {
    reload,
    close() {
      isClosed = true;
      clearInterval(look);
      clearTimeout(settling);
      process.off('SIGHUP', reload);
    },
  };
}

/** Undefined while the file cannot even be looked at: that is no change. */
function versionIfReadable(path: string): string | undefined {
  try {
    return fileVersion(path);
  } catch {
    return undefined;
  }
}

/** The keys that differ and wait for a restart, as paths. */
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
