import { remembered } from '../collections/remembered.ts';
import { maskedLabel } from '../text/masked-label.ts';

/** Members of a line besides its message. Values may be anything: they are redacted, cut and encoded. */
export type LogFields = Readonly<Record<string, unknown>>;

const HEAD_NAMES: ReadonlySet<string> = new Set(['time', 'level', 'message']);

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

export function shownNames(source: object): readonly string[] {
  const names = Object.keys(source);
  return names.length > MAX_MEMBERS ? names.slice(0, MAX_MEMBERS) : names;
}

interface MemberName {
  /** The name as JSON, with the comma before it and the colon behind it. */
  readonly written: string;
  readonly isSecret: boolean;
  /** A name that every line has: no field can replace it. */
  readonly isOfHead: boolean;
}

/** Names mostly come from our code and repeat on every line, so these facts are cached. */
export const memberName = remembered(
  1000,
  (name): MemberName => ({
    written: oneLine(`,${JSON.stringify(name)}:`),
    isSecret: isSecretName(name),
    isOfHead: HEAD_NAMES.has(name),
  }),
);

export function readMember(source: object, name: string): unknown {
  try {
    return (source as Record<string, unknown>)[name];
  } catch {
    return '(unreadable)';
  }
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.toLowerCase().replace(/[-_]/g, ''));
}

export function maskedValue(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === 'string' ? maskedLabel(value) : '...';
}

/** A value as JSON can hold it, without secrets, cut to a bounded size. */
export function plain(value: unknown, depth: number): unknown {
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

/** A failure of the surroundings (a file, a host, a database) is its code. The stack is for faults of our own. */
function plainError(error: Error, depth: number): Record<string, unknown> {
  const code = codeOf(error);
  const isOwnFault = !isOfSurroundings(error, depth);
  return {
    name: withoutSecrets(String(error.name)),
    message: withoutSecrets(String(error.message)),
    ...(code !== undefined && { code: withoutSecrets(code) }),
    ...(error.cause !== undefined && { cause: plain(error.cause, depth + 1) }),
    ...(isOwnFault && typeof error.stack === 'string' && { stack: withoutSecrets(error.stack) }),
  };
}

/** Codes of the system, of SQLite and of PostgreSQL; those of Node itself (`ERR_...`) are none of them. */
const SURROUNDINGS_CODE = /^(E[A-Z0-9]+|EAI_[A-Z]+|SQLITE_\w+|(?=.*\d)[0-9A-Z]{5})$/;

/** Whether the error, or what caused it, has such a code. */
function isOfSurroundings(error: Error, depth: number): boolean {
  if (SURROUNDINGS_CODE.test(codeOf(error) ?? '')) return true;
  return error.cause instanceof Error && depth <= MAX_DEPTH && isOfSurroundings(error.cause, depth + 1);
}

function codeOf(error: Error): string | undefined {
  const code = readMember(error, 'code');
  return typeof code === 'string' ? code : undefined;
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

/** Escapes control characters and line separators, which would end the line or control a terminal. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
