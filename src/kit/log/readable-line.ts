import type { RenderLine } from './json-line.ts';
import type { LogLevel } from './log-level.ts';
import { oneLine, redactFields, withoutSecrets } from './redact-fields.ts';

type Piece = LogLevel | 'faint' | 'plain';

/** Parameters of the terminal's colour sequences. */
const COLOURS: Readonly<Record<Piece, string>> = {
  debug: '90',
  info: '36',
  warn: '1;33',
  error: '1;31',
  silent: '0',
  faint: '2',
  plain: '',
};

/** Paints text that holds no control characters. */
export function paint(text: string, piece: Piece, hasColours: boolean): string {
  const colour = COLOURS[piece];
  return hasColours && colour !== '' ? `\u001b[${colour}m${text}\u001b[0m` : text;
}

/** Writes lines for a person: time, level, message, fields with short ids. */
export function readableLines(hasColours: boolean): RenderLine {
  return (level, now, message, fields) => {
    const { error, ...rest } = redactFields(fields);
    const shown = error === undefined ? rest : { ...rest, error: errorText(error) };
    const time = paint(new Date(now).toISOString().slice(11, 23), 'faint', hasColours);
    const name = paint(level.padEnd(5), level, hasColours);
    const fieldTexts = Object.entries(shown)
      .filter(([, value]) => value !== null)
      .map(([field, value]) => {
        return ` ${paint(oneLine(`${field}=`), 'faint', hasColours)}${oneLine(shortText(value))}`;
      });
    return `${time} ${name} ${oneLine(withoutSecrets(message))}${fieldTexts.join('')}\n`;
  };
}

/** On a terminal an error is its message; the rest is for the JSON line. */
function errorText(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('message' in error)) return error;
  return error.message;
}

/** Texts that need no quotes. */
const BARE = /^[\w./:@-]+$/;

function shortText(value: unknown): string {
  if (typeof value === 'string') return BARE.test(value) ? shortId(value) : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(shortText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return membersText(value);
  return JSON.stringify(value) ?? String(value);
}

function membersText(value: object): string {
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return `{${members.map(([name, member]) => `${name}=${shortText(member)}`).join(' ')}}`;
}

/** Ids of generations (`gen-<seconds>-<token>`), UUIDs and hashes. */
const LONG_ID = /^(gen-\d+-)\w{16,}$|^()[0-9a-f]{8}-[0-9a-f-]{27}$|^()[0-9a-f]{64}$/;

/** Characters of an id that are enough to tell it from others on a terminal. */
const SHORT_ID_CHARACTERS = 8;

/** The beginning of a long id; any other text as it is. */
export function shortId(text: string): string {
  const match = LONG_ID.exec(text);
  if (match === null) return text;
  return text.slice(0, (match[1] ?? '').length + SHORT_ID_CHARACTERS);
}
