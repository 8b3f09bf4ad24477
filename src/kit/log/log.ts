import { GatheredText } from '../text/gathered-text.ts';
import { jsonLines } from './json-line.ts';
import { LOG_LEVELS, type LogLevel } from './log-level.ts';
import { readableLines } from './readable-line.ts';
import type { LogFields } from './redact-fields.ts';

/** Structured logs. Writing one never throws and always makes exactly one line. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  with(fields: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Readable lines for a person instead of JSON. */
  readonly readable: boolean;
  /** Readable lines have colours; false by default. */
  readonly colours?: boolean | undefined;
  /** Takes one whole line, its newline included. */
  readonly write: (line: string, level: LogLevel) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface StderrSettings {
  readonly logLevel: LogLevel;
  readonly colours?: boolean | undefined;
  /** Readable lines instead of JSON; by default if stderr is a terminal. */
  readonly readable?: boolean;
}

/**
 * A log on stderr: JSON lines, or short readable ones on a terminal. Lines of one turn of the event loop are written
 * together; a warning or an error at once, with what was said before it.
 */
export function openStderrLog({
  logLevel: level,
  colours,
  readable = process.stderr.isTTY === true,
}: StderrSettings): Log {
  // A closed stderr must not end the gateway. Registered once for all logs.
  if (!process.stderr.listeners('error').includes(ignoreLostReader))
    process.stderr.on('error', ignoreLostReader);
  if (!process.listeners('exit').includes(writeLastLines)) process.on('exit', writeLastLines);
  return openLog({
    level,
    readable,
    colours: colours === true,
    write: (line, of) => {
      STDERR_LINES.add(line);
      if (URGENT.has(of)) STDERR_LINES.flush();
    },
    now: () => Date.now(),
  });
}

/** Levels that are written at once, so that a crash does not lose them. */
const URGENT: ReadonlySet<LogLevel> = new Set(['warn', 'error']);

const STDERR_LINES = new GatheredText((text) => process.stderr.write(text));

function ignoreLostReader(): void {}

function writeLastLines(): void {
  STDERR_LINES.flush();
}

export function openLog(options: LogOptions, bound: LogFields = {}): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const render = options.readable ? readableLines(options.colours === true) : jsonLines();
  const hasBound = Object.keys(bound).length > 0;
  const writer = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return () => {};
    return (message: string, fields: LogFields = {}) => {
      try {
        const all = hasBound ? { ...bound, ...fields } : fields;
        options.write(render(level, options.now(), message, all), level);
      } catch {
        // A line that cannot be written is dropped: logging must not fail a request.
      }
    };
  };
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    with: (fields) => openLog(options, { ...bound, ...fields }),
  };
}
