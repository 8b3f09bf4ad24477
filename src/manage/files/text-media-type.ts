export interface TextSample {
  readonly text: string;
  /** True if `text` is all of it. */
  readonly isWhole: boolean;
  /** Last character of the whole text that is not white space. */
  readonly last: string;
}

/** Records that are examined to recognize a table. */
const MAX_RECORDS = 100;

const DELIMITERS = [',', ';', '\t'] as const;

/** Markdown: a fence, a link, a table's rule, or a heading in the first line. Each pattern takes linear time. */
const MARKDOWN: readonly RegExp[] = [
  /^ {0,3}(?:```|~~~)/m,
  /\[[^[\]\n]{1,200}\]\([^()[\]\s]{1,500}\)/,
  /^ {0,3}\|?(?: ?:?-{3,}:? ?\|)+/m,
  /^\s*#{1,6} \S/,
];

/** The recognized structures, most specific first. */
const STRUCTURES: readonly (readonly [type: string, matches: (sample: TextSample) => boolean])[] = [
  ['application/json', isJson],
  ['application/x-ndjson', isJsonLines],
  ['text/csv', isTable],
  ['text/markdown', ({ text }) => MARKDOWN.some((sign) => sign.test(text))],
];

export function textMediaType(sample: TextSample): string {
  return STRUCTURES.find(([, matches]) => matches(sample))?.[0] ?? 'text/plain';
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

function isJson(sample: TextSample): boolean {
  const { text, isWhole, last } = sample;
  const closing = CLOSING[text.trimStart().charAt(0)];
  if (closing === undefined) return false;
  return isWhole ? isJsonContainer(text) : last === closing && !isJsonLines(sample);
}

function isJsonLines(sample: TextSample): boolean {
  const lines = wholeLines(sample).filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.every(isJsonContainer);
}

function isJsonContainer(text: string): boolean {
  if (CLOSING[text.trimStart().charAt(0)] === undefined) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isTable(sample: TextSample): boolean {
  return DELIMITERS.some((delimiter) => {
    const widths = widthsOf(sample, delimiter);
    const [first = 0] = widths;
    // In prose white space follows every comma.
    const isDense = new RegExp(`${delimiter}\\S`).test(sample.text);
    return isDense && first > 1 && widths.length > 1 && widths.every((width) => width === first);
  });
}

/** Number of cells of each record; delimiters and line ends inside quotes do not count. */
function widthsOf(sample: TextSample, delimiter: string): number[] {
  const widths: number[] = [];
  let width = 1;
  let isQuoted = false;
  for (const line of wholeLines(sample)) {
    if (widths.length === MAX_RECORDS) break;
    if (line === '' && !isQuoted) continue;
    for (const character of line) {
      if (character === '"') isQuoted = !isQuoted;
      else if (character === delimiter && !isQuoted) width++;
    }
    if (isQuoted) continue;
    widths.push(width);
    width = 1;
  }
  return isQuoted ? [] : widths;
}

/** All complete lines: if the text is cut, its last line may be too. */
function wholeLines({ text, isWhole }: TextSample): string[] {
  const lines = text.split(/\r?\n/);
  return isWhole ? lines : lines.slice(0, -1);
}
