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
