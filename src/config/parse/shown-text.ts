import type { Issue } from '../../kit/json/validate.ts';

/** The longest name out of a file that a problem shows, in characters. */
const LONGEST_NAME = 64;

/** What somebody wrote, as a problem may show it: cut, and with nothing in it that ends a line or steers a terminal. */
export function shownName(name: string): string {
  return escapeControls(cut(name));
}

/** A problem whose names are fit to be shown. */
export function shownProblem({ path, message }: Issue): Issue {
  const shortened = path.replace(/[\w-]+/g, cut);
  return { path: escapeControls(shortened), message: escapeControls(message) };
}

function cut(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 3)}...` : name;
}

/** Text with nothing in it that ends a line or steers a terminal. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
