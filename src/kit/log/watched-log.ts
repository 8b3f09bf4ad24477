import { type Log, openLog } from './log.ts';
import type { LogLevel } from './log-level.ts';

export interface LineWatcher {
  /** False: no line is made for it. */
  readonly takesLines: boolean;
  /** A JSON line, its newline included. */
  addLine(line: string): void;
}

/** A log whose lines a watcher gets too, as JSON, from a level on. */
export function watchedLog(log: Log, level: LogLevel, watcher: LineWatcher): Log {
  const write = (line: string) => watcher.addLine(line);
  return pairOf(log, openLog({ level, readable: false, write, now: () => Date.now() }), watcher);
}

function pairOf(log: Log, watched: Log, watcher: LineWatcher): Log {
  const both =
    (level: Exclude<LogLevel, 'silent'>): Log['info'] =>
    (message, fields) => {
      log[level](message, fields);
      if (watcher.takesLines) watched[level](message, fields);
    };
  return {
    debug: both('debug'),
    info: both('info'),
    warn: both('warn'),
    error: both('error'),
    with: (fields) => pairOf(log.with(fields), watched.with(fields), watcher),
  };
}
