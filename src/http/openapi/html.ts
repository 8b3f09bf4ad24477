import type { Json } from '../../kit/json/json.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(value: Json | undefined): string {
  return String(value ?? '').replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** Text with `code` in it. */
export function inline(text: Json | undefined): string {
  return escapeHtml(text ?? '').replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** Blocks of more characters or lines may be higher than the page lets them be. */
const MAX_SHORT_CHARACTERS = 300;
const MAX_SHORT_LINES = 10;

/** A block of code. A long one scrolls, so the keyboard can reach it. */
export function codeBlock(code: string, name: string): string {
  const isLong = code.length > MAX_SHORT_CHARACTERS || code.split('\n').length > MAX_SHORT_LINES;
  return `<pre class="${name}"${isLong ? ' tabindex="0"' : ''}><code>${escapeHtml(code)}</code></pre>`;
}
