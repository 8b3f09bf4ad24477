import { nearestWord } from '../../kit/text/nearest-word.ts';
import { terminalColumns } from '../../kit/text/terminal-columns.ts';
import type { Excerpt, FilePlace } from '../problem.ts';
import { configSchema } from '../schema/schema.ts';
import { memberAt } from './member-at.ts';
import { escapeControls } from './shown-text.ts';

/** Characters of a line that an excerpt shows; the rest is cut. */
const MAX_CHARACTERS = 100;

/**
 * Longer lines are cut: only the member at the place is searched for secrets, which takes time that grows
 * with the square of the length.
 */
const MAX_LINE_CHARACTERS = 2000;

/** Members farther to the right are not looked for, and members longer than half a line are not shown. */
const MAX_COLUMN = 100_000;
const MAX_MEMBER_CHARACTERS = MAX_LINE_CHARACTERS / 2;

/** Characters that are shown before the caret in a line that is cut. */
const CHARACTERS_BEFORE = 40;

/** Longest underline. */
const MAX_WIDTH = 60;

const HIDDEN = '*';

/** Names of keys whose values are never shown, misspelt ones included. */
const SECRET_NAME =
  /key|token|secret|passw|pwd|auth|cred|cookie|bearer|sign|private|header|api[_-]?k|hash|cert/i;

/** A key and its value on one line, in block or flow form; also NAME=value, for files that are no YAML. */
const MEMBER =
  /(["']?)([\w.$-]+)\1(\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|\$\{\w*\}?|\{[^}]*\}?|\[[^\]]*\]?|[^,}\]\s#][^,}\]#]*)/g;

/** Words that look like a secret by themselves: a usual prefix, or a long run with letters and digits. */
const SECRET_WORD =
  /(?<![\w-])(?:sk|pk|rk|gsk|xai|ghp|gho|hf|key|AKIA|ASIA|AIza|eyJ|xox[a-z]|ABSK)[-_]?[\w+/=.-]{4,}|(?=[\w+=]*\d)(?=[\w+=]*[A-Za-z])[\w+=]{16,}|(?=[\w+/=]*\d)(?=[\w+/=]*[a-z])(?=[\w+/=]*[A-Z])[\w+/=]{32,}/g;

/** Password of an address, and values of its parameters. */
const URL_SECRET = /(?<=:\/\/)[^\s/@"']+(?=@)|(?<=[?&][\w-]+=)[^&\s"',}]+/g;

/** Reads excerpts from a file; none if it does not look like a configuration, because any of it may be secret. */
export class ExcerptSource {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = looksLikeConfig(text) ? text.split(/\r\n|\r|\n/) : [];
  }

  excerptAt({ line, column, width }: FilePlace): Excerpt | undefined {
    const piece = this.#maskedPiece(line - 1, column - 1);
    if (piece === undefined) return undefined;
    const masked = piece.text.replaceAll('\t', ' ');
    const at = column - 1 - piece.from;
    const from = masked.length > MAX_CHARACTERS ? Math.max(0, at - CHARACTERS_BEFORE) : 0;
    const shown = masked.slice(from, from + MAX_CHARACTERS);
    const before = escapeControls(shown.slice(0, at - from));
    const after = escapeControls(shown.slice(at - from));
    const marked = escapeControls(shown.slice(at - from, at - from + width));
    const head = from + piece.from > 0 ? '...' : '';
    const tail = from + MAX_CHARACTERS < masked.length ? '...' : '';
    return {
      text: `${head}${before}${after}${tail}`,
      indent: head.length + terminalColumns(before),
      width: Math.max(1, Math.min(terminalColumns(marked), MAX_WIDTH)),
    };
  }

  /** The line, or the piece of a long one that begins with the member at the place; secrets become as many stars. */
  #maskedPiece(index: number, at: number): MaskedPiece | undefined {
    const line = this.#lines[index];
    if (line === undefined || line.trim() === '') return undefined;
    const isLong = line.length > MAX_LINE_CHARACTERS;
    if (isLong && at > MAX_COLUMN) return undefined;
    const { from, isSecret } = isLong ? memberAt(line, at, isSecretName) : { from: 0, isSecret: false };
    if (isLong && at - from > MAX_MEMBER_CHARACTERS) return undefined;
    const text = isLong ? line.slice(from, from + MAX_LINE_CHARACTERS) : line;
    const isBelowSecret = this.#isBelowSecret(index);
    if (isSecret || (isBelowSecret && from > 0)) return { from, text: text.replace(/\S/g, HIDDEN) };
    if (isBelowSecret) return { from, text: withoutValues(text) };
    return { from, text: withoutSecretWords(text.replace(MEMBER, maskMember)) };
  }

  /** True if the line belongs to a key with a secret name on a line above: a nested map, or a text of several lines. */
  #isBelowSecret(index: number): boolean {
    let indent = indentOf(this.#lines[index] ?? '');
    for (let above = index - 1; above >= 0 && indent > 0; above--) {
      const line = this.#lines[above] ?? '';
      if (line.trim() === '' || indentOf(line) >= indent) continue;
      indent = indentOf(line);
      const name = /^\s*(?:- +)*["']?([\w.$-]+)["']?\s*:/.exec(line)?.[1];
      if (name !== undefined && isSecretName(name)) return true;
    }
    return false;
  }
}

interface MaskedPiece {
  /** Characters of the line before it. */
  readonly from: number;
  readonly text: string;
}

const SECTIONS: readonly string[] = Object.keys(configSchema.properties);

/** True if a line begins with a section of the configuration, or with one that is misspelt. */
function looksLikeConfig(text: string): boolean {
  const names = [...text.matchAll(/^\s*(?:\{\s*)?["']?([A-Za-z_-]{1,32})["']?\s*:/gm)].map(
    ([, name]) => name ?? '',
  );
  if (names.some((name) => SECTIONS.includes(name.toLowerCase()))) return true;
  return names.some((name) => name === name.toLowerCase() && nearestWord(name, SECTIONS) !== undefined);
}

/** Keys of the configuration that match SECRET_NAME and hold no secret. */
const PLAIN_KEYS: ReadonlySet<string> = new Set(['keys', 'per_key', 'max_output_tokens', 'image_token']);

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PLAIN_KEYS.has(name) && !/tokens?_per_|_tokens$/.test(name);
}

/** The path of a certificate or of its key, as `server.tls` has it: the message names the file too. */
const PEM_FILE = /^(["']?)[\w./~ -]{1,200}\.(?:pem|crt|cer|key)\1\s*$/;

function maskMember(whole: string, quote: string, name: string, colon: string, value: string): string {
  const isPlaceholder = /^["']?\$\{\w+\}["']?\s*$/.test(value);
  const isFile = (name === 'cert' || name === 'key') && PEM_FILE.test(value);
  if (isSecretName(name)) {
    return isPlaceholder || isFile ? whole : `${quote}${name}${quote}${colon}${hidden(value)}`;
  }
  // The members of a map on the same line.
  return `${quote}${name}${quote}${colon}${/^[{[]/.test(value) ? value.replace(MEMBER, maskMember) : value}`;
}

/** Stars in place of a value, as many as it has characters, so that columns stay right. */
function hidden(value: string): string {
  const kept = /\s*$/.exec(value)?.[0] ?? '';
  return HIDDEN.repeat(value.length - kept.length) + kept;
}

/** Keeps the keys of a line whose values are all secret. */
function withoutValues(text: string): string {
  const key = /^\s*(?:- +)?["']?[\w.$-]+["']?\s*:(?=\s|$)/.exec(text)?.[0] ?? /^\s*/.exec(text)?.[0] ?? '';
  return key + text.slice(key.length).replace(/[^\s]/g, HIDDEN);
}

function withoutSecretWords(text: string): string {
  return text.replace(URL_SECRET, hidden).replace(SECRET_WORD, hidden);
}

function indentOf(line: string): number {
  return /^\s*/.exec(line)?.[0].length ?? 0;
}
