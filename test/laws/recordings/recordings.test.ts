import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DIALECTS, FORMATS as FORMAT_DIALECTS } from '../../../src/dialects/dialects.ts';
import { ERROR_TABLE } from '../../../src/ir/errors.ts';
import { fold } from '../../../src/ir/folding/fold.ts';
import type { DialectName, Format, OutputItem } from '../../../src/ir/items.ts';
import { type Result, writtenItems } from '../../../src/ir/result.ts';
import type { Usage } from '../../../src/ir/usage.ts';
import { isJsonObject, readJson } from '../../../src/kit/json/json.ts';
import { seededRandom } from '../fuzz/mutate.ts';
import { byteByByte, cutBytes } from './cut-bytes.ts';
import { eventsOf, type Given } from './decode.ts';
import { givenTo, requestFor } from './encode.ts';
import type { Expectation, Expectations } from './expectations.ts';
import { EXPECTED } from './expected.ts';
import { OWN_EXPECTED } from './own-expected.ts';
import { type Answer, answersIn, readRecordings } from './recording.ts';
import { type Summary, summaryOf, summaryOfError } from './summary.ts';

interface Collection {
  readonly name: string;
  readonly folder: string;
  readonly expected: Expectations;
}

/** Folder of the recordings of real upstreams, which are kept outside of the project. */
const elsewhere = process.env.SIGNALBOX_TRANSCRIPTS;

const COLLECTIONS: readonly Collection[] = [
  {
    name: 'recordings of our own',
    folder: fileURLToPath(new URL('../../kit/fixtures/recordings', import.meta.url)),
    expected: OWN_EXPECTED,
  },
  ...(elsewhere === undefined || elsewhere === ''
    ? []
    : [{ name: 'recordings of real upstreams', folder: elsewhere, expected: EXPECTED }]),
];

const FORMATS = FORMAT_DIALECTS.map(({ name }) => name);

/** Ways to cut one stream, besides byte by byte. */
const SEEDS = 8;

for (const collection of COLLECTIONS) describe(collection.name, () => describeCollection(collection));

function describeCollection({ name, folder, expected }: Collection): void {
  const recordings = readRecordings(folder);
  const entries = recordings.flatMap((recording) =>
    answersIn(recording).map((answer, at) => ({
      label: `${recording.file} (${recording.shows})${at === 0 ? '' : `, answer ${at + 1}`}`,
      answer,
      shown: recording.shows,
      expected: expected[recording.file]?.[at],
    })),
  );
  const known = recordings.filter(({ file }) => expected[file] !== undefined);

  const count = `${recordings.length} with ${entries.length} answers, ${known.length} of them known by what they say`;

  it(`are ${count}`, () => {
    console.info(`${name}: ${count}`);
    expect(entries.length).toBeGreaterThan(0);
    for (const recording of known) {
      expect(answersIn(recording), recording.file).toHaveLength(expected[recording.file]?.length ?? 0);
    }
  });

  for (const { label, answer, shown, expected } of entries) {
    describe(label, () => describeAnswer(answer, shown, expected));
  }
}

function describeAnswer(answer: Answer, shown: string, expected: Expectation | undefined): void {
  it('has the expected content', () => {
    const summary = answer.kind === 'error' ? summaryOfError(answer) : summaryOf(resultOf(answer));
    if (expected === undefined) expectSane(summary, answer, shown);
    else expect({ dialect: answer.dialect, ...summary }).toEqual(expected);
  });
  if (answer.kind === 'stream') describeCuts(answer);
  if (answer.kind === 'error') return;
  if (isFormat(answer.dialect)) describeRelay(answer, answer.dialect);
  describeTranslation(answer);
}

/** Invariants of every recorded answer. */
function expectSane(summary: Summary, answer: Answer, shown: string): void {
  const { end, usage } = summary;
  const mayFail = answer.kind === 'error' || /error|fail|overload|limit/i.test(shown);
  expect(end).toBeDefined();
  if (!mayFail) expect(Object.keys(ERROR_TABLE)).not.toContain(end);
  if (usage === undefined) return;
  const { inputTokens = 0, cachedTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  expect(cachedTokens + cacheWriteTokens + cacheWrite1hTokens).toBeLessThanOrEqual(inputTokens);
  expect(usage.reasoningTokens ?? 0).toBeLessThanOrEqual(usage.outputTokens ?? 0);
}

function describeCuts(answer: Extract<Given, { kind: 'stream' }>): void {
  const whole = resultOf(answer);

  it('has the same content byte by byte', () => {
    expect(fold(eventsOf(answer, { pieces: byteByByte(answer.bytes) }))).toEqual(whole);
  });

  it(`has the same content in ${SEEDS} other cuts`, () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      expect(
        fold(eventsOf(answer, { pieces: cutBytes(answer.bytes, seededRandom(seed)) })),
        `seed ${seed}`,
      ).toEqual(whole);
    }
  });

  if (answer.dialect === 'bedrock') return;

  it('has the same content with other line ends', () => {
    const lines = answer.bytes.toString().split(/\r\n|\n/);
    for (const end of ['\r\n', '\r']) {
      const bytes = Buffer.from(lines.join(end));
      for (const pieces of [[bytes], byteByByte(bytes)])
        expect(fold(eventsOf(answer, { pieces }))).toEqual(whole);
    }
  });
}

function describeRelay(answer: Given, format: Format): void {
  it('has the same content when relayed', () => {
    const request = requestFor(format, writtenItems(resultOf(answer).items));
    const translated = eventsOf(answer, { request });
    const relayed = eventsOf(answer, { request, relay: true });
    expect(summaryOf(fold(relayed))).toEqual(summaryOf(fold(translated)));
    if (answer.kind === 'body' && fold(translated).failure !== undefined) return;
    const [one, other] = [relayed, translated].map((events) =>
      summaryOf(resultOf(givenTo(format, events, answer.kind, request), request)),
    );
    // A relayed answer has sent its counts before it failed.
    if (fold(translated).failure === undefined) expect(one).toEqual(other);
    else expect({ ...one, usage: undefined }).toEqual({ ...other, usage: undefined });
  });
}

function describeTranslation(answer: Given): void {
  it.each(FORMATS)('reads back the same from the %s format', (format) => {
    const request = requestFor(format, writtenItems(resultOf(answer).items));
    const events = eventsOf(answer, { request });
    const result = fold(events);
    const kinds = result.failure === undefined ? (['stream', 'body'] as const) : (['stream'] as const);
    for (const kind of kinds) {
      const again = resultOf(givenTo(format, events, kind, request), request);
      expect(carried(again), kind).toEqual(carried(result));
    }
  });
}

/** What every format can say, each in its own way. */
function carried(result: Result): object {
  const summary = summaryOf({ ...result, items: result.items.map(withPlainInput) });
  const { text, refusal, reasoning, calls, end, message, usage } = summary;
  return {
    // Refusals are text in some formats, and in some the reason for one is a refusal.
    text: text ?? refusal ?? message,
    reasoning,
    calls: calls?.map(({ signature, ...call }) => call),
    end: result.failure === undefined ? (END_WORDS[end ?? ''] ?? end) : result.failure.row.responsesCode,
    usage: result.failure === undefined ? countsOf(usage) : undefined,
  };
}

/** Ends that some format has only one word for. */
const END_WORDS: Readonly<Record<string, string>> = { refusal: 'content-filter' };

/** Formats without counts send zeros, and most do not distinguish caches by lifetime. */
function countsOf({ cacheWriteTokens = 0, cacheWrite1hTokens = 0, ...counts }: Partial<Usage> = {}): object {
  return { ...counts, written: cacheWriteTokens + cacheWrite1hTokens };
}

/**
 * The messages format writes input as an object: only its members are sure to come back. Where it is none, because it
 * was cut off, it stands in the member `raw` of one.
 */
function withPlainInput(item: OutputItem): OutputItem {
  if (item.type !== 'tool-call') return item;
  const reading = readJson(item.input);
  if (!reading.ok) return item;
  const raw = isJsonObject(reading.value) ? reading.value.raw : undefined;
  return { ...item, input: typeof raw === 'string' ? raw : JSON.stringify(reading.value) };
}

function resultOf(answer: Given, request = requestFor('responses', [])): Result {
  return fold(eventsOf(answer, { request }));
}

function isFormat(dialect: DialectName): dialect is Format {
  return DIALECTS[dialect].inbound !== undefined;
}
