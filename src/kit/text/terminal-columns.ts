/** Characters of two columns: those of Chinese, Japanese and Korean, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** The half-width forms of Katakana and Hangul. */
const HALF_WIDTH = /[\uff61-\uffdc]/;

/** Characters that are drawn over the one before. */
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Columns of a terminal that a text takes, without control characters. */
export function terminalColumns(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (COMBINING.test(character)) continue;
    columns += WIDE.test(character) && !HALF_WIDTH.test(character) ? 2 : 1;
  }
  return columns;
}
