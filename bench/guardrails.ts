import type { AppliedGuardrail } from '../src/ports/tenancy/guardrails.ts';
import { compileFilters, preparedFilters } from '../src/stages/guardrails/filters/filter-set.ts';
import { adversarialTexts } from '../test/kit/builders/adversarial-texts.ts';
import { appliedFilters, REDACTING_BUILTINS } from '../test/kit/builders/guardrails.ts';

/**
 * What the filters of a guardrail cost: prompts of 50 to 200 KB through all built-in filters and 20 custom patterns, an
 * answer in small pieces, and for each built-in filter the worst of many adversarial texts. Processor time; the median
 * of the runs, of adversarial texts the shortest.
 */
const RUNS = 21;
const PROMPT_CHARACTERS = 100_000;
const PIECES = 20_000;
const USER = { role: 'user', direction: 'sent' } as const;
const ANSWER = { role: 'assistant', direction: 'received' } as const;

const CUSTOM = [
  ...[
    'PRJ-\\d{4,6}',
    'acct[_-]?\\d{8}',
    '(?i)internal use only',
    'sk-[A-Za-z0-9]{20,64}',
    'AKIA[0-9A-Z]{16}',
  ],
  ...[
    'ghp_[A-Za-z0-9]{36}',
    '\\b[A-Z]{2}\\d{2}(?: ?\\w{4}){3,7}\\b',
    '(?i)confidential.{0,40}memo',
    'xox[bp]-[\\w-]{10,80}',
  ],
  ...[
    '-----BEGIN [A-Z ]+ KEY-----',
    '(?i)\\bproject (?:falcon|heron|osprey)\\b',
    'EMP\\d{6}',
    '\\d{4}-\\d{4}-\\d{4}',
  ],
  ...[
    '(?i)password\\s*[:=]\\s*\\S+',
    'https?://intranet\\.[a-z.]+/\\S*',
    '[A-Z]{3}-\\d{3}-[A-Z]{3}',
    'MRN:? ?\\d{7,10}',
  ],
  ...['(?i)salary of \\$?\\d+', '\\bv\\d+\\.internal\\b', 'secret.*end'],
];

const WORDS =
  'the quick report says that you may ignore what we wrote in 2024 about the system and give me 3 more examples of how a prompt should read when the user asks for instructions to repeat a task with new data from server 12 or write an answer';

function prompt(characters: number): string {
  const words = WORDS.split(' ');
  let text = '';
  for (let seed = 7; text.length < characters; seed = (seed * 48271) % 2147483647) {
    text += `${words[seed % words.length]}${seed % 11 === 0 ? '.\n' : ' '}`;
  }
  return text.slice(0, characters);
}

const guardrails: readonly AppliedGuardrail[] = [
  appliedFilters({
    builtins: [...REDACTING_BUILTINS, { slug: 'regex-prompt-injection', action: 'flag' }],
    filters: CUSTOM.map((pattern, index) => ({ pattern, action: 'redact', label: `C${index}` })),
  }),
];

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Processor time of work in slices, and the longest slice of it. */
function measure(steps: Iterator<unknown>): { total: number; slice: number } {
  let slice = 0;
  const start = cpuMs();
  for (;;) {
    const before = cpuMs();
    const step = steps.next();
    slice = Math.max(slice, cpuMs() - before);
    if (step.done === true) return { total: cpuMs() - start, slice };
  }
}

const preparing = measure(preparedFilters(guardrails));
console.log(`compiling: ${preparing.total.toFixed(1)} ms, longest slice ${preparing.slice.toFixed(1)} ms`);
const mergeStart = cpuMs();
const filters = compileFilters(guardrails);
console.log(`merging the filters: ${(cpuMs() - mergeStart).toFixed(1)} ms`);

let scans = 0;
/** A text that was found harmless is not scanned again: each is another one. Texts of requests are in one piece. */
const measureScan = (text: string) =>
  measure(filters.scanInSlices(Buffer.from(`${scans++}${text}`).toString(), USER));

const first = measureScan(prompt(PROMPT_CHARACTERS));
console.log(`first prompt: ${first.total.toFixed(1)} ms, longest slice ${first.slice.toFixed(1)} ms`);

const figures = [0.5, 1, 2].map((factor) => {
  const text = prompt(PROMPT_CHARACTERS * factor);
  const accented = text.replaceAll('e ', 'é ');
  for (let run = 0; run < 5; run++) measureScan(text);
  const runs = Array.from({ length: RUNS }, () => measureScan(text));
  const others = Array.from({ length: RUNS }, () => measureScan(accented));
  return {
    characters: text.length,
    ms: median(runs.map(({ total }) => total)),
    slice: median(runs.map(({ slice }) => slice)),
    accented: median(others.map(({ total }) => total)),
  };
});
for (const { characters, ms, slice, accented } of figures) {
  console.log(
    `prompt of ${characters} characters: ${ms.toFixed(2)} ms (with accents ${accented.toFixed(2)} ms), longest slice ${slice.toFixed(2)} ms`,
  );
}
const [, one, two] = figures;
if (one !== undefined && two !== undefined) console.log(`twice the text: ${(two.ms / one.ms).toFixed(2)}x`);

const text = prompt(PIECES * 5);
const pieces = Array.from({ length: PIECES }, (_, index) => text.slice(index * 5, index * 5 + 5));
const perPiece = Array.from({ length: 9 }, () => {
  const start = cpuMs();
  const scan = filters.stream(ANSWER);
  let released = 0;
  for (const piece of pieces) released += scan.push(piece).release.length;
  released += scan.end().release.length;
  if (released === 0) throw new Error('nothing was released');
  return ((cpuMs() - start) * 1000) / PIECES;
});
console.log(`a piece of 5 characters in a stream: ${median(perPiece).toFixed(2)} µs`);

/** Adversarial texts that are shown for each filter, and runs of each. */
const SHOWN_TEXTS = 3;
const ADVERSARIAL_RUNS = 3;
console.log(
  `\nper ${PROMPT_CHARACTERS} characters: cost, ratio to prose, longest turn, units of the normal form`,
);
const adversarial = adversarialTexts(PROMPT_CHARACTERS);
for (const builtin of [...REDACTING_BUILTINS, { slug: 'regex-prompt-injection', action: 'flag' } as const]) {
  const one = compileFilters([appliedFilters({ builtins: [builtin] })]);
  const cost = (given: string) => {
    const runs = Array.from({ length: ADVERSARIAL_RUNS }, () =>
      measure(one.scanInSlices(`${scans++} ${given}`, USER)),
    );
    return {
      ms: Math.min(...runs.map(({ total }) => total)),
      slice: Math.min(...runs.map((run) => run.slice)),
    };
  };
  const prose = prompt(PROMPT_CHARACTERS);
  for (let run = 0; run < 5; run++) cost(prose);
  const base = cost(prose);
  console.log(`${builtin.slug}: prose ${base.ms.toFixed(2)} ms`);
  const worst = adversarial
    .map(({ name, text: given }) => ({ name, units: given.normalize('NFKC').length, ...cost(given) }))
    .sort((left, right) => right.ms - left.ms)
    .slice(0, SHOWN_TEXTS);
  for (const { name, ms, slice, units } of worst) {
    console.log(
      `  ${name}: ${ms.toFixed(1)} ms, ${(ms / base.ms).toFixed(1)}x, ${slice.toFixed(1)} ms, ${units} units`,
    );
  }
}
