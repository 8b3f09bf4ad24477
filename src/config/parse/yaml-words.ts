import type { Problem } from '../problem.ts';
import type { YamlProblem } from './read-yaml.ts';

/** Explanations of errors of the YAML library for the author of the file. The first row that fits counts. */
const WORDS: readonly (readonly [code: string, message: RegExp, words: string])[] = [
  ['MISSING_CHAR', /closing .quote/, 'the quoted text that begins here is not closed: add the closing quote'],
  ['MISSING_CHAR', /between flow/, 'a comma is missing before this'],
  [
    'MISSING_CHAR',
    /without - indicator/,
    'the indentation fits no line above: align it with the keys of its list item, or begin an item with "- "',
  ],
  ['MISSING_CHAR', /./, 'a ":" and a value are missing behind this key'],
  ['BAD_INDENT', /Flow sequence/, 'the list that begins here is not closed: add "]"'],
  ['BAD_INDENT', /Flow map/, 'the "{" here is not closed: add "}"'],
  ['BAD_INDENT', /./, 'the indentation fits no line above: align it with the other keys of its section'],
  ['TAB_AS_INDENT', /./, 'a tab cannot indent a line: use spaces'],
  ['BLOCK_IN_FLOW', /./, 'a comma is missing, or a text with ": " in it needs quotes'],
  ['NO_SPACE', /./, 'a space is missing behind the colon: write key: value'],
  ['DASH_INDENT', /./, 'the indentation fits no list item above: align the "-" with that of the other items'],
  [
    'TOP_LIST',
    /./,
    'the file begins with a list, and must begin with a key: indent the list below its key, such as providers:',
  ],
  ['TOP_TEXT', /./, 'the file holds a text, and must hold keys and values, such as drain_ms: 30s'],
  ['TOO_FAR', /./, 'this line is indented too far, or the text above it needs quotes'],
  ['BLOCK_AS_IMPLICIT_KEY', /./, 'a text with ": " in it needs quotes'],
  ['MULTILINE_IMPLICIT_KEY', /./, 'a colon with a space behind it is missing: write key: value'],
  ['BAD_SCALAR_START', /./, 'a text that begins with this character needs quotes'],
  ['BAD_ALIAS', /./, 'a text that begins with "*" needs quotes'],
  ['UNKNOWN_ALIAS', /./, 'an alias that has no anchor: a text that begins with "*" needs quotes'],
  ['ALIAS_IN_ITSELF', /./, 'this alias stands inside the value that it repeats: write the value out'],
  [
    'TOO_MANY_ALIASES',
    /./,
    'this alias would make more than 100 copies of one value: write some of them out, or use fewer aliases',
  ],
  [
    'MERGE_KEY',
    /./,
    'merge keys are not taken: write the keys out; an alias can stand for a whole value, such as timeouts_ms: *name',
  ],
  ['BAD_DQ_ESCAPE', /./, 'this escape is not one: write "\\\\" for a backslash, or use single quotes'],
  ['TAG_RESOLVE_FAILED', /./, 'tags are not taken: a text that begins with "!" needs quotes'],
  ['BAD_DIRECTIVE', /./, 'directives are not taken: a line cannot begin with "%"'],
  ['MULTIPLE_DOCS', /./, 'a second document begins here; a configuration is one document: remove "---"'],
  ['UNEXPECTED_TOKEN', /flow-(map|seq)-end/, 'no bracket is open that this one could close'],
  ['UNEXPECTED_TOKEN', /Block scalar header/, 'behind "|" or ">" the line must end'],
  [
    'UNEXPECTED_TOKEN',
    /at node end/,
    'the value ended before this: put the whole text in quotes, or remove the rest',
  ],
  ['UNEXPECTED_TOKEN', /flow-|double-quoted|single-quoted/, 'a comma is missing before this'],
  ['UNEXPECTED_TOKEN', /./, 'this cannot stand here'],
  ['LIST_IN_MAP', /./, 'a list item cannot stand among keys: indent it below its key'],
  ['KEY_OVER_1024_CHARS', /./, 'the key is longer than 1024 characters'],
  ['DUPLICATE_KEY', /./, 'keys must be unique'],
  ['KEY_NOT_TEXT', /./, 'a key must be a text; a text with braces or brackets needs quotes'],
];

/** A problem of the YAML text in our words. The library's message may quote the text, so it is not shown. */
export function yamlProblem({ code, message, place, firstPlace }: YamlProblem): Problem {
  const words = WORDS.find(([of, pattern]) => of === code && pattern.test(message))?.[2];
  const first = firstPlace === undefined ? '' : `: this one is on line ${firstPlace.line} already`;
  return {
    path: `line ${place.line}, column ${place.column}`,
    message: `${words ?? 'this is not valid YAML'}${first}`,
    place,
    ...(firstPlace !== undefined && { firstPlace }),
  };
}
