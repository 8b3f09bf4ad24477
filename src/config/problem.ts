import { relative, sep } from 'node:path';
import type { Issue } from '../kit/json/validate.ts';

/** A place in the file, counted from 1. */
export interface FilePlace {
  readonly line: number;
  readonly column: number;
  /** Characters that the caret underlines. */
  readonly width: number;
}

/** One mistake in a configuration, or something in it that is almost surely one. */
export interface Problem extends Issue {
  /** A second sentence, such as the fields that are allowed there. */
  readonly hint?: string;
  /** Set if the key itself is wrong, not its value. */
  readonly isAtKey?: true;
  /** Path of the key that a misspelt one was probably meant to be. */
  readonly meantPath?: string;
  /** Path of a key that is absent, and without which this one has no effect. */
  readonly neededPath?: string;
  /** Set if it counts the problems that are not shown. */
  readonly isAboutRest?: true;
  /** Absent if the problem is not in the file: in a flag or in the environment. */
  readonly place?: FilePlace;
  /** The line of the file without secrets, cut to a readable length, and where the caret begins in it. */
  readonly excerpt?: Excerpt;
  /** An earlier place that this one collides with, and its line. */
  readonly firstPlace?: FilePlace;
  readonly firstExcerpt?: Excerpt;
}

export interface Excerpt {
  readonly text: string;
  /** Columns of a terminal before the caret. */
  readonly indent: number;
  /** Columns that the caret underlines. */
  readonly width: number;
}

/** `path: problem`. */
export function problemLine({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** The problem as it is printed: `path: problem`, then the place, the excerpt with a caret, and the hint. */
export function problemText(problem: Problem, file: string | undefined): string {
  const { place, excerpt, firstPlace, firstExcerpt, hint } = problem;
  const lines = [problemLine(problem)];
  const number = place === undefined ? '' : String(place.line);
  const margin = ' '.repeat(Math.max(number.length, 3));
  if (file !== undefined && place !== undefined) {
    lines.push(`${margin}--> ${shownFile(file)}:${place.line}:${place.column}`);
  } else if (file !== undefined && problem.path === '') {
    lines.push(`${margin}--> ${shownFile(file)}`);
  }
  const show = (at: string, { text, indent, width }: Excerpt, mark: string) => {
    lines.push(`${at.padStart(margin.length)} | ${text}`);
    lines.push(`${margin} | ${' '.repeat(indent)}${mark.repeat(width)}`);
  };
  if (firstPlace !== undefined && firstExcerpt !== undefined)
    show(String(firstPlace.line), firstExcerpt, '-');
  if (excerpt !== undefined) show(number, excerpt, '^');
  if (hint !== undefined) lines.push(`${margin} = ${hint}`);
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

export function problemsText(problems: readonly Problem[], file: string | undefined): string {
  return problems.map((problem) => problemText(problem, file)).join('');
}

/** Facts of a problem besides its message, as members of JSON. */
export function problemFields({ path, hint, place, excerpt }: Problem, file: string | undefined) {
  return {
    path,
    ...(hint !== undefined && { hint }),
    ...(place !== undefined && { file, line: place.line, column: place.column }),
    ...(excerpt !== undefined && { excerpt: excerpt.text }),
  };
}

export function problemJson(problem: Problem, file: string | undefined) {
  const { path, ...fields } = problemFields(problem, file);
  return { path, message: problem.message, ...fields };
}

/** Relative to the working directory if the file is below it, and that is not the root. */
function shownFile(file: string): string {
  const near = relative(process.cwd(), file);
  return near === '' || near.startsWith('..') || sep + near === file ? file : near;
}
