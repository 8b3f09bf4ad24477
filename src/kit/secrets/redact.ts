import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { define } from '../json/members.ts';
import { urlOf } from '../net/url-of.ts';
import { withoutKnownSecrets } from './without-secrets.ts';

export const REDACTED = '[redacted]';

/** Secrets of a provider that messages must not reveal. */
export interface Confidential {
  /** The credential in use and every other secret that was sent along. */
  readonly secrets: readonly string[];
  /** Secrets that answers must not contain either. */
  readonly keys?: readonly string[];
  /** Tokens made for this call, which answers must not contain either. */
  readonly tokens?: readonly string[];
  /** Host of the upstream, with its port if it has one. */
  readonly host: string | undefined;
}

/** A shorter secret is not replaced wherever it occurs: it would tear ordinary words apart. */
const MIN_SECRET_CHARACTERS = 4;

const SECRET_NAME =
  /^(?:proxy-)?(?:authorization(?:[-_]token)?|(?:x-)?(?:goog-)?api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret|secret(?:[-_]?(?:access[-_]?)?key)?|password|private[-_]?key|credentials?|bearer|token)$/i;

/** True for names of headers and JSON members that hold secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Shapes of secrets that we do not know. Each runs in linear time. */
const SECRET_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[^\s"',;<>]+/gi, `$1 ${REDACTED}`],
  [
    /\b(authorization|(?:x-)?api[-_ ]?key|access[-_]token|auth[-_]token|client[-_]secret|secret|password)(["']?\s*[:=]\s*["']?)(?!bearer\b|basic\b|\[redacted\])[^\s"',;&<>{}]+/gi,
    `$1$2${REDACTED}`,
  ],
  [/\b(?:sk|pk|rk|gsk|xai|hf|ghp|sbk)[-_][\w*.…-]{4,}/g, REDACTED],
  // What follows the first letters is taken whole: to look for a dot in it again and again would take quadratic time.
  [/\b(?:AIza[\w-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|ya29\.[\w.-]{8,}|eyJ[\w.-]{12,})/g, REDACTED],
];

const URL_SHAPE = /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>`|\\^{}]+/gi;
const ADDRESS_SHAPES: readonly RegExp[] = [
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d{1,5}\b)?/g,
  /\[[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\](?::\d{1,5}\b)?/gi,
];
const PRIVATE_HOST =
  /^[^.]*$|^\d+(?:\.\d+){3}$|^\[|\.(?:internal|local|localhost|lan|intranet|corp|svc|cluster)$/i;

/** Characters of an upstream's text that are searched; far more than any message shows. */
const MAX_TEXT_CHARACTERS = 16_384;

/** Characters that one character of a secret may be written with. */
const MAX_ESCAPE_CHARACTERS = 16;

/**
 * Text that an upstream wrote, without secrets and without addresses of the network behind the gateway. Of a long text
 * its beginning, whose own end is left out too: a secret may have been cut there.
 */
export function redact(text: string, confidential: Confidential): string {
  if (text.length <= MAX_TEXT_CHARACTERS) return redactWhole(text, confidential);
  const beginning = redactWhole(text.slice(0, MAX_TEXT_CHARACTERS), confidential);
  const longestSecret = Math.max(0, ...confidential.secrets.map(({ length }) => length));
  return beginning.slice(0, Math.max(0, beginning.length - longestSecret * MAX_ESCAPE_CHARACTERS));
}

function redactWhole(text: string, confidential: Confidential): string {
  let clean = withoutKnownSecrets(text, { forms: formsOfAll(confidential.secrets), replacement: REDACTED });
  for (const [shape, replacement] of SECRET_SHAPES) clean = clean.replace(shape, replacement);
  clean = clean.replace(URL_SHAPE, (url) => (isPrivateUrl(url, confidential.host) ? REDACTED : url));
  // A host of one word ("ollama") is also an ordinary word: it goes only where it stands in a URL.
  if (confidential.host !== undefined && /[.:]/.test(confidential.host)) {
    clean = replaceEvery(clean, confidential.host, REDACTED);
  }
  for (const shape of ADDRESS_SHAPES) clean = clean.replace(shape, REDACTED);
  return clean;
}

/**
 * A JSON value without the given secrets, the strings of members that are named like secrets, and headers for MCP
 * servers.
 */
export function redactJson(value: JsonObject, secrets: readonly string[]): JsonObject {
  return redactMembers(value, formsOfAll(secrets));
}

/** A value as deep as it is without the given secrets; the same value if it holds none. */
export function redactStrings<V extends object>(value: V, secrets: readonly string[]): V {
  return redactValue(value as Json, formsOfAll(secrets)) as V;
}

function redactValue(value: Json, forms: readonly string[]): Json {
  if (typeof value === 'string') return withoutForms(value, forms);
  if (Array.isArray(value)) return redactEntries(value, forms);
  return isJsonObject(value) ? redactMembers(value, forms) : value;
}

function redactEntries(list: Json[], forms: readonly string[]): Json[] {
  const redacted = list.map((entry) => redactValue(entry, forms));
  return redacted.every((entry, at) => entry === list[at]) ? list : redacted;
}

/** Returns the same object if it holds no secret. */
function redactMembers(object: JsonObject, forms: readonly string[]): JsonObject {
  let redacted: JsonObject | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const shown = redactMember(object, name, value, forms);
    if (shown === value) continue;
    redacted ??= { ...object };
    define(redacted, name, shown);
  }
  return redacted ?? object;
}

function redactMember(object: JsonObject, name: string, value: Json, forms: readonly string[]): Json {
  if (typeof value === 'string' && isSecretName(name)) return REDACTED;
  if (name === 'headers' && object.type === 'mcp') return redactEvery(value);
  return redactValue(value, forms);
}

/** Headers for a server that the caller named: any of them may hold a secret. */
function redactEvery(headers: Json): Json {
  return isJsonObject(headers)
    ? Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED]))
    : REDACTED;
}

function withoutForms(text: string, forms: readonly string[]): string {
  let clean = text;
  for (const form of forms) clean = replaceEvery(clean, form, REDACTED);
  return clean;
}

const FORMS = new WeakMap<readonly string[], readonly string[]>();

/** All the ways in which the secrets may be written; found once for a list of them. */
export function formsOfAll(secrets: readonly string[]): readonly string[] {
  const known = FORMS.get(secrets);
  if (known !== undefined) return known;
  const forms = secrets
    .filter(({ length }) => length >= MIN_SECRET_CHARACTERS)
    .flatMap((secret) => [...formsOf(secret)]);
  FORMS.set(secrets, forms);
  return forms;
}

/** A secret as it is, inside JSON text, inside a URL, in hex, and in base64 wherever it stands in what was encoded. */
function formsOf(secret: string): Set<string> {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  return new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    new URLSearchParams([['', secret]]).toString().slice(1),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ]);
}

/** Shorter runs of base64 are found in ordinary text too. */
const MIN_BASE64_CHARACTERS = 8;

/**
 * The characters of base64 that depend on the secret alone when `offset` bytes (modulo 3) of something else were
 * encoded before it, in both alphabets.
 */
function base64At(secret: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), secret]).toString('base64');
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + secret.length) * 8) / 6);
  const own = text.slice(start, end);
  return own.length < MIN_BASE64_CHARACTERS ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}

function isPrivateUrl(text: string, upstreamHost: string | undefined): boolean {
  const url = urlOf(text);
  if (url === undefined) return true;
  const isUpstream =
    upstreamHost !== undefined && (url.host === upstreamHost || url.hostname === upstreamHost);
  return isUpstream || url.username !== '' || PRIVATE_HOST.test(url.hostname);
}

function replaceEvery(text: string, part: string, replacement: string): string {
  return part === '' || !text.includes(part) ? text : text.split(part).join(replacement);
}
