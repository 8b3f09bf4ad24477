/**
 * The tools that a text plainly asks for, in their own order. A stand-in must not act on a hint: a tool is asked for
 * when its whole name is written (`get_weather`, `getWeather` or "get weather"; a name of one word only as "use
 * search" or "the search tool"), in a sentence that does not say no. What stands inside `<tags>` was put there by
 * programs and asks for nothing. "Use a tool" asks for the first one.
 */
export function askedTools<T extends { readonly name: string }>(tools: readonly T[], text: string): T[] {
  const sentences = sentencesOf(withoutTagged(text).slice(-MAX_TEXT_CHARACTERS));
  const vocabulary = new Set(sentences.flatMap(({ words }) => words));
  const asked = tools.filter(({ name }) => {
    const words = wordsOf(name);
    const isSaid = words.length > 0 && words.every((word) => vocabulary.has(word));
    return isSaid && sentences.some((sentence) => asksFor(sentence, words));
  });
  return asked.length === 0 && sentences.some(asksForAny) ? tools.slice(0, 1) : asked;
}

/** Characters that are read, from the end: longer texts are pasted documents. */
const MAX_TEXT_CHARACTERS = 4000;
/** Characters that are read, with what programs put between. */
const MAX_TAGGED_CHARACTERS = 100_000;

/** The name is taken whole or not at all: trying each shorter one too would take for ever on a long name. */
const TAG = /<(\/?)([A-Za-z][\w:-]*)(?![\w:-])[^<>]*>/g;

/** Lower-case words; a comma is a word of its own. */
type Words = readonly string[];

interface Sentence {
  readonly words: Words;
  /** For each place, whether the sentence says no before it, commas or not. */
  readonly isDeniedBefore: readonly boolean[];
  /** For each place, whether the sentence says no from there to the next comma. */
  readonly isDeniedFrom: readonly boolean[];
}

const NOES: ReadonlySet<string> = new Set([
  ...['not', 'no', 'never', 'neither', 'nor', 'without', 'cannot', 'forbidden', 'unnecessary'],
  // "don't" and its like, the apostrophe gone.
  ...['dont', 'wont', 'cant', 'mustnt', 'shouldnt', 'isnt', 'neednt', 'doesnt', 'didnt'],
]);
/** Words that say no to what follows them. */
const PREVENTIONS: ReadonlySet<string> = new Set([
  'avoid',
  'stop',
  'skip',
  'refrain',
  'instead of',
  'rather than',
]);
const VERBS: ReadonlySet<string> = new Set(['use', 'using', 'call', 'run', 'invoke', 'try']);
const TOOL_WORDS: ReadonlySet<string> = new Set(['tool', 'tools', 'function', 'functions']);
const ARTICLES: ReadonlySet<string> = new Set(['a', 'an', 'the', 'any', 'your', 'one', 'of', 'some', 'my']);

/** Only a full stop or a blank line ends what a "do not" is about: lists and wrapped lines go on. */
function sentencesOf(text: string): Sentence[] {
  return text.split(/[.!?;]+(?:\s|$)|\n\s*\n/).map((sentence) => {
    const words = wordsOf(sentence.replace(/['’]/g, ''));
    return { words, isDeniedBefore: deniedBefore(words), isDeniedFrom: deniedFrom(words) };
  });
}

/** `getWeather_now` as `get`, `weather`, `now`. */
function wordsOf(text: string): Words {
  const spaced = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2');
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+|,/gu) ?? [];
}

function deniedBefore(words: Words): boolean[] {
  let isDenied = false;
  return words.map((word, at) => {
    const before = isDenied;
    isDenied ||= NOES.has(word) || PREVENTIONS.has(word) || PREVENTIONS.has(`${words[at - 1]} ${word}`);
    return before;
  });
}

function deniedFrom(words: Words): boolean[] {
  const denied: boolean[] = [];
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? '';
    denied[at] = word !== ',' && (NOES.has(word) || denied[at + 1] === true);
  }
  return denied;
}

function asksFor(sentence: Sentence, name: Words): boolean {
  const { words, isDeniedBefore, isDeniedFrom } = sentence;
  return words.some(
    (_, at) =>
      name.every((word, offset) => words[at + offset] === word) &&
      (name.length > 1 || isCalledTool(words, at)) &&
      isDeniedBefore[at] !== true &&
      isDeniedFrom[at + name.length] !== true,
  );
}

/** "use search", "call the search", "the search tool". */
function isCalledTool(words: Words, at: number): boolean {
  return TOOL_WORDS.has(words[at + 1] ?? '') || VERBS.has(wordBefore(words, at));
}

/** "Use a tool", "call one of the functions": some tool, whichever it is. */
function asksForAny({ words, isDeniedBefore, isDeniedFrom }: Sentence): boolean {
  return words.some(
    (word, at) =>
      TOOL_WORDS.has(word) &&
      VERBS.has(wordBefore(words, at)) &&
      isDeniedBefore[at] !== true &&
      isDeniedFrom[at + 1] !== true,
  );
}

/** The last word before a place that is no article. */
function wordBefore(words: Words, at: number): string {
  return words.slice(Math.max(at - 4, 0), at).findLast((word) => !ARTICLES.has(word)) ?? '';
}

/**
 * The end of a text without its `<name>...</name>` regions. A tag that is not closed is text; one that is closed and
 * was not opened began before what is looked at.
 */
function withoutTagged(whole: string): string {
  const text = whole.slice(-MAX_TAGGED_CHARACTERS);
  const isCut = text.length < whole.length;
  const open = new Map<string, number[]>();
  const regions: (readonly [start: number, end: number])[] = [];
  for (const { 0: tag, 1: slash, 2: name = '', index } of text.matchAll(TAG)) {
    const starts = open.get(name) ?? [];
    open.set(name, starts);
    if (slash === '') starts.push(index);
    const start = slash === '' ? undefined : (starts.pop() ?? (isCut ? 0 : undefined));
    if (start !== undefined) regions.push([start, index + tag.length]);
  }
  return outside(text, regions);
}

function outside(text: string, regions: readonly (readonly [start: number, end: number])[]): string {
  const kept: string[] = [];
  let at = 0;
  for (const [start, end] of [...regions].sort(([one], [other]) => one - other)) {
    if (start > at) kept.push(text.slice(at, start));
    at = Math.max(at, end);
  }
  return [...kept, text.slice(at)].join('\n\n');
}
