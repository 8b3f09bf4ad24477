import type { Problem } from '../problem.ts';

/** Longer names are cut in messages. */
const MAX_NAME_CHARACTERS = 64;

/** A name from the file, safe to print: shortened, control characters escaped. */
export function shownName(name: string): string {
  return escapeControls(cut(name));
}

/** A problem, safe to print. */
export function shownProblem<T extends Problem>(problem: T): T {
  const path = escapeControls(problem.path.replace(/[\w-]+/g, cut));
  return { ...problem, path, message: escapeControls(problem.message) };
}

function cut(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS - 3)}...` : name;
}

export function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
