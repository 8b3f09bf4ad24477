import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';

/** The V4A format of diffs: `@@` before a section, then lines that begin with a space, `+` or `-`. */

const SECTION = '@@';
const END_OF_FILE = '*** End of File';

const MAX_PATH_CHARACTERS = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL_CHARACTER = /[\0-\x1f\x7f]/;

/** Why an operation on a file cannot be applied, in words for the model; undefined = its form is right. */
export function operationProblem(operation: JsonObject): string | undefined {
  const path = stringAt(operation, 'path') ?? '';
  if (path.trim() === '') return 'path is empty';
  if (path.length > MAX_PATH_CHARACTERS || CONTROL_CHARACTER.test(path)) return 'path is no path of a file';
  const diff = stringAt(operation, 'diff');
  switch (operation.type) {
    case 'delete_file':
      return undefined;
    case 'create_file':
      return diff === undefined ? 'diff is missing' : newFileProblem(linesOf(diff));
    case 'update_file':
      return diff === undefined ? 'diff is missing' : updateProblem(linesOf(diff));
    default:
      return 'type must be create_file, update_file or delete_file';
  }
}

function linesOf(diff: string): string[] {
  const lines = diff.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function newFileProblem(lines: readonly string[]): string | undefined {
  const wrong = lines.findIndex((line) => !line.startsWith('+'));
  return wrong === -1 ? undefined : `line ${wrong + 1} of diff must begin with +: the file is new`;
}

function updateProblem(lines: readonly string[]): string | undefined {
  let changes = 0;
  /** Lines since the last `@@`; undefined before the first, which may be left out. */
  let inSection: number | undefined;
  let isAtEnd = false;
  for (const [index, line] of lines.entries()) {
    const place = `line ${index + 1} of diff`;
    if (line === END_OF_FILE) {
      if (inSection === undefined) return `${place}: the end of the file comes after a section`;
      isAtEnd = true;
    } else if (line.startsWith('***')) {
      return `${place}: only lines of one file, without *** headers`;
    } else if (line === SECTION || line.startsWith(`${SECTION} `)) {
      // Several headers in a row name a place step by step.
      inSection = 0;
      isAtEnd = false;
    } else {
      if (isAtEnd) return `${place}: nothing may follow the end of the file but another section`;
      if (!/^(?:[ +-]|$)/.test(line)) return `${place} must begin with a space, +, - or @@`;
      if (/^[+-]/.test(line)) changes += 1;
      inSection = (inSection ?? 0) + 1;
    }
  }
  if (inSection === 0) return 'the last section of diff is empty';
  return changes === 0 ? 'diff changes nothing' : undefined;
}
