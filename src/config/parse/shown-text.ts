import type { Issue } from '../../kit/json/validate.ts';

/** Longer names are cut in messages. */
const MAX_NAME_CHARACTERS = 64;

/** A name from the file, safe to print: shortened, control characters escaped. */
export function shownName(name: string): string {
  return escapeControls(cut(name));
}

/** A problem, safe to print. */
export function shownProblem({ path, message }: Issue): Issue {
  const shortened = path.replace(/[\w-]+/g, cut);
  return { path: escapeControls(shortened), message: escapeControls(message) };
}

function cut(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS - 3)}...` : name;
}

/** Escapes control characters and line separators. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
