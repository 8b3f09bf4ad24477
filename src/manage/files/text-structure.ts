/** The beginning of a text. */
export interface TextSample {
  readonly text: string;
  /** Whether there is nothing more. */
  readonly isWhole: boolean;
  /** The last character of all of the text that is not white space. */
  readonly last: string;
}

/** Records that are looked at to tell a table. */
const MOST_RECORDS = 100;

const DELIMITERS = [',', ';', '\t'] as const;

/** Signs of Markdown: a fence, a link, the rule below the head of a table; a heading counts where it comes first. Each takes linear time. */
const MARKDOWN: readonly RegExp[] = [
  /^ {0,3}(?:```|~~~)/m,
  /\[[^[\]\n]{1,200}\]\([^()[\]\s]{1,500}\)/,
  /^ {0,3}\|?(?: ?:?-{3,}:? ?\|)+/m,
  /^\s*#{1,6} \S/,
];

/** The structures that are told apart, most particular first. */
const STRUCTURES: readonly (readonly [type: string, matches: (sample: TextSample) => boolean])[] = [
  ['application/json', isJson],
  ['application/x-ndjson', isJsonLines],
  ['text/csv', isTable],
  ['text/markdown', ({ text }) => MARKDOWN.some((sign) => sign.test(text))],
];

/** The media type of a text, by how it is built. */
export function textStructure(sample: TextSample): string {
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

/** How many cells each record has; delimiters and ends of lines between quotes are content. */
function widthsOf(sample: TextSample, delimiter: string): number[] {
  const widths: number[] = [];
  let width = 1;
  let isQuoted = false;
  for (const line of wholeLines(sample)) {
    if (widths.length === MOST_RECORDS) break;
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

/** The lines that are all there: where the text goes on, its last one may not be. */
function wholeLines({ text, isWhole }: TextSample): string[] {
  const lines = text.split(/\r?\n/);
  return isWhole ? lines : lines.slice(0, -1);
}
