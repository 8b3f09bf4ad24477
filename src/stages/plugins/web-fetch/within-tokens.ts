/** Tokens of a character on average, by tokenizers of today: ASCII, and everything else. */
const ASCII_TOKENS = 0.25;
const OTHER_TOKENS = 1;

/** The beginning of a text that has about so many tokens, and rather fewer. */
export function withinTokens(text: string, maxTokens: number): string {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    tokens += code < 0x80 ? ASCII_TOKENS : OTHER_TOKENS;
    if (tokens > maxTokens) return text.slice(0, isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at);
  }
  return text;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
