import { remembered } from '../collections/remembered.ts';
import { GatheredText } from '../text/gathered-text.ts';
import { maskedLabel } from '../text/masked-label.ts';

/** Levels from the most to the least talkative; `silent` writes nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line says besides its message. Values may be anything: they are redacted, cut and encoded. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logs. Writing one never throws and always makes exactly one line. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields on every line. */
  with(fields: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Readable lines for a person instead of JSON. */
  readonly readable: boolean;
  /** Takes one whole line, its newline included. */
  readonly write: (line: string, level: LogLevel) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * A log on stderr: JSON lines, or short readable ones on a terminal. Lines of one turn of the event loop are written
 * together; a warning or an error at once, with what was said before it.
 */
export function openStderrLog(level: LogLevel): Log {
  // A closed stderr must not end the gateway. Registered once for all logs.
  if (!process.stderr.listeners('error').includes(ignoreLostReader))
    process.stderr.on('error', ignoreLostReader);
  if (!process.listeners('exit').includes(writeLastLines)) process.on('exit', writeLastLines);
  return openLog({
    level,
    readable: process.stderr.isTTY === true,
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

/** A log that hands its lines to `write`. */
export function openLog(options: LogOptions, bound: LogFields = {}): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const render = options.readable ? readableLine : jsonLines();
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

/** Names of members that hold secrets, compared without case, `-` and `_`. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'apikey',
  'authorization',
  'cookie',
  'credential',
  'encryptionkey',
  'managementkey',
  'password',
  'proxyauthorization',
  'secret',
  'setcookie',
  'token',
  'xapikey',
  'xgoogapikey',
]);

/** Secrets inside text: a bearer credential, a key with the usual prefix, a password in a URL. */
const SECRET_TEXT = /(\bBearer\s+)([^\s"',;]+)|()(\bsk-[A-Za-z0-9_-]{8,})|(:\/\/[^\s/:@]*:)([^\s/@]+)(?=@)/gi;

/** Characters of the shortest text that matches: `://:x@`. */
const MIN_SECRET_CHARACTERS = 6;

const MAX_TEXT = 8192;
const MAX_DEPTH = 6;
const MAX_MEMBERS = 100;

/** Removes secrets from log fields, by name and by their shape inside text. The only place that does. */
export function redactFields(fields: LogFields): Record<string, unknown> {
  return plainMembers(fields, 0);
}

function plainMembers(source: object, depth: number): Record<string, unknown> {
  const members: [string, unknown][] = [];
  for (const name of shownNames(source)) {
    const value = readMember(source, name);
    if (value === undefined) continue;
    members.push([name, memberName(name).isSecret ? maskedValue(value) : plain(value, depth + 1)]);
  }
  return Object.fromEntries(members);
}

/** Names of the members that a line shows. */
function shownNames(source: object): readonly string[] {
  const names = Object.keys(source);
  return names.length > MAX_MEMBERS ? names.slice(0, MAX_MEMBERS) : names;
}

/** What a member's name determines. */
interface MemberName {
  /** As JSON, with the comma before it and the colon behind it. */
  readonly written: string;
  readonly isSecret: boolean;
  /** A name that every line has: no field can replace it. */
  readonly isOfHead: boolean;
}

/** Names mostly come from our code and repeat on every line, so what they determine is cached. */
const memberName = remembered(
  1000,
  (name): MemberName => ({
    written: oneLine(`,${JSON.stringify(name)}:`),
    isSecret: isSecretName(name),
    isOfHead: HEAD_NAMES.has(name),
  }),
);

function readMember(source: object, name: string): unknown {
  try {
    return (source as Record<string, unknown>)[name];
  } catch {
    return '(unreadable)';
  }
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.toLowerCase().replace(/[-_]/g, ''));
}

function maskedValue(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === 'string' ? maskedLabel(value) : '...';
}

/** A value as JSON can hold it, without secrets, cut to a bounded size. */
function plain(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return withoutSecrets(value);
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'function':
      return '(function)';
    case 'object':
      return value === null ? null : plainObject(value, depth);
    default:
      return value;
  }
}

function plainObject(value: object, depth: number): unknown {
  if (depth > MAX_DEPTH) return '(nested deeper)';
  if (value instanceof Error) return plainError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '(no date)' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => plain(item, depth + 1));
  return plainMembers(value, depth);
}

function plainError(error: Error, depth: number): Record<string, unknown> {
  return {
    name: withoutSecrets(String(error.name)),
    message: withoutSecrets(String(error.message)),
    ...(error.cause !== undefined && { cause: plain(error.cause, depth + 1) }),
    ...(typeof error.stack === 'string' && { stack: withoutSecrets(error.stack) }),
  };
}

/** Text without the secrets that can be told by their shape, cut to a bounded length. */
export function withoutSecrets(text: string): string {
  if (text.length < MIN_SECRET_CHARACTERS) return text;
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}... (${text.length} characters)` : text;
  return cut.replace(SECRET_TEXT, (_whole, bearer, token, _none, key, url, password) =>
    bearer !== undefined
      ? `${bearer}${maskedLabel(token)}`
      : key !== undefined
        ? maskedLabel(key)
        : `${url}${maskedLabel(password)}`,
  );
}

const HEAD_NAMES: ReadonlySet<string> = new Set(['time', 'level', 'message']);

/** Writes JSON lines member by member, without building an object first. */
function jsonLines(): (level: LogLevel, now: number, message: string, fields: LogFields) => string {
  const writtenMoment = momentWriter();
  return (level, now, message, fields) => {
    let line = `{"time":"${writtenMoment(now)}","level":"${level}","message":${writtenText(message)}`;
    for (const name of shownNames(fields)) {
      const value = readMember(fields, name);
      if (value === undefined) continue;
      const { written, isOfHead, isSecret } = memberName(name);
      if (!isOfHead) line += written + writtenValue(isSecret ? maskedValue(value) : value);
    }
    return `${line}}\n`;
  };
}

/** Writes ISO 8601 times; caches everything but the milliseconds of the current second. */
function momentWriter(): (ms: number) => string {
  let second = Number.NaN;
  let upToSecond = '';
  return (ms) => {
    const ofMoment = Math.floor(ms / 1000);
    if (ofMoment !== second) {
      upToSecond = new Date(ofMoment * 1000).toISOString().slice(0, -4);
      second = ofMoment;
    }
    return `${upToSecond}${String(Math.floor(ms) - ofMoment * 1000).padStart(3, '0')}Z`;
  };
}

/** A value as it stands in a JSON line. */
function writtenValue(value: unknown): string {
  if (typeof value === 'string') return writtenText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  return oneLine(JSON.stringify(plain(value, 1)));
}

/** What keeps a text from being written as it is: what JSON or a line has to escape, what may begin a secret. */
const NOT_PLAIN = /[^\x20-\x7e]|["\\]|sk-[\w-]{8}|bearer|:\/\//i;

/** Texts longer than this are cut, or worth no special case. */
const SHORT_TEXT = 128;

function writtenText(text: string): string {
  // Nearly all logged texts are short and plain; this takes a third of the time of the general way.
  if (text.length <= SHORT_TEXT && !NOT_PLAIN.test(text)) return `"${text}"`;
  return oneLine(JSON.stringify(withoutSecrets(text)));
}

function readableLine(level: LogLevel, now: number, message: string, fields: LogFields): string {
  const { error, ...rest } = redactFields(fields);
  const parts = [new Date(now).toISOString().slice(11, 23), level.padEnd(5), withoutSecrets(message)];
  for (const [name, value] of Object.entries(rest)) parts.push(`${name}=${shortText(value)}`);
  if (error !== undefined) parts.push(`error=${shortText(errorText(error))}`);
  return `${oneLine(parts.join(' '))}\n`;
}

/** On a terminal an error is its message; the stack is for the JSON line. */
function errorText(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('message' in error)) return error;
  return error.message;
}

function shortText(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? String(value);
}

/** Escapes control characters and line separators, which would end the line or control a terminal. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
