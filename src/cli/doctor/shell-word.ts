/** What a shell takes as it is. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** What ends a line or steers a terminal. */
const CONTROL = /[\p{C}\p{Zl}\p{Zp}]/u;

/** What is escaped where there are controls: those, and what ends or escapes the word itself. */
const ESCAPED = /[\\'\p{C}\p{Zl}\p{Zp}]/gu;

/** A name as it can be pasted into a shell, whatever is in it. */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  return CONTROL.test(text)
    ? `$'${text.replace(ESCAPED, escapeOf)}'`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function escapeOf(character: string): string {
  return String.raw`\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
