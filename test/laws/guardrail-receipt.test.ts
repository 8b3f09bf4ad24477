import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { GatewayError } from '../../src/ir/errors.ts';
import type { Event } from '../../src/ir/events.ts';
import type { DialectName } from '../../src/ir/items.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { runAtOnce } from '../../src/kit/loop/turns.ts';
import { AnswerFilter } from '../../src/stages/guardrails/answer/answer-filter.ts';
import { JudgedHold } from '../../src/stages/guardrails/answer/judged-hold.ts';
import { compileFilters } from '../../src/stages/guardrails/filters/filter-set.ts';
import { GuardrailScan } from '../../src/stages/guardrails/guardrail-scan.ts';
import type { Judge } from '../../src/stages/guardrails/judges/judge.ts';
import { JudgePanel } from '../../src/stages/guardrails/judges/judge-panel.ts';
import { receivedCharacters, textsOf } from '../../src/stages/guardrails/receipt/received-characters.ts';
import { sentCharacters } from '../../src/stages/guardrails/receipt/sent-characters.ts';
import { mapTexts } from '../../src/stages/guardrails/texts/map-texts.ts';
import { appliedFilters } from '../kit/builders/guardrails.ts';
import { GREETINGS } from './matrix/answer-feature.ts';
import { ANSWER_MATRIX } from './matrix/answer-matrix.ts';
import type { WireAnswer } from './matrix/answers/wire-answer.ts';
import { parse, targetOf } from './matrix/judge-request.ts';
import { REQUEST_MATRIX } from './matrix/request-matrix.ts';
import { FORMATS, UPSTREAMS } from './matrix/verdict.ts';

/** Every text of every known feature is scanned, in every dialect: none is left out of the receipt. */

const REQUESTS = REQUEST_MATRIX.flatMap(({ features }) => features);

/** Redacts every word. */
const words = () =>
  compileFilters([appliedFilters({ filters: [{ pattern: '[A-Za-z]+', action: 'redact', label: '...' }] })]);
const WORD = /[A-Za-z]/;

/** A service that allows every text, and sees it in the smallest pieces. */
const ALLOWING: Judge = {
  engine: 'service',
  guardrailId: 'guardrail',
  scope: 'api-key',
  onFailure: 'closed',
  windowCharacters: 1,
  judge: async (texts) => ({ texts: texts.map(({ text }) => text), findings: [], spansIn: () => [] }),
};

/** A service that replaces every text. */
const REPLACING: Judge = {
  engine: 'service',
  guardrailId: 'guardrail',
  scope: 'api-key',
  onFailure: 'closed',
  windowCharacters: null,
  judge: async (texts) => ({ texts: texts.map(() => '...'), findings: [], spansIn: () => [] }),
};

function panelOf(...judges: Judge[]): JudgePanel {
  const report = { found: () => {}, failed: () => {} };
  return new JudgePanel(judges, report, new AbortController().signal);
}

describe.each(REQUESTS)('a request with $title', ({ asked }) => {
  const formats = FORMATS.filter((format) => asked[format] !== undefined);

  it.each(formats)('of %s is scanned wherever it goes', async (format) => {
    for (const upstream of UPSTREAMS) {
      const scan = new GuardrailScan(
        compileFilters([appliedFilters({ builtins: [{ slug: 'email', action: 'redact' }] })]),
        () => {},
      );
      try {
        const request = await scan.request(parse(format, asked[format] as JsonObject), panelOf());
        const { body } = DIALECTS[upstream].upstream?.renderRequest(request, targetOf(upstream)) ?? {};
        const sent = JSON.parse(JSON.stringify(body)) as JsonObject;
        const count = sentCharacters(sent, scan.sentTexts());
        expect(count.scanned, `${upstream}: ${JSON.stringify(sent)}`).toBe(count.sent);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.status >= 500) throw error;
      }
    }
  });
});

function decoded(answer: WireAnswer, upstream: DialectName, stream: boolean): Event[] {
  const dialect = DIALECTS[upstream].upstream;
  if (dialect === undefined) throw new Error(`no upstream dialect ${upstream}`);
  const context = { request: parse('responses', GREETINGS.responses), relay: false };
  if (!stream) return dialect.decodeBody(answer.body, context);
  const decoder = dialect.createDecoder(context);
  return [...answer.frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

function passedBy(filter: AnswerFilter, event: Event): Event[] {
  const passed = filter.push([event]);
  return Array.isArray(passed) ? passed : runAtOnce(passed);
}

/** Events that have nothing to scan. */
const TEXTLESS: ReadonlySet<Event['type']> = new Set<Event['type']>(['seal', 'start', 'usage', 'part-end']);

/** All texts of events, pieces joined. */
function textsIn(events: readonly Event[]): string[] {
  const texts: string[] = [];
  for (const event of events) {
    if (event.type === 'text-delta' || event.type === 'tool-input-delta') texts.push(event.text);
    else if (TEXTLESS.has(event.type)) continue;
    else {
      mapTexts(event.type === 'finish' ? textsOf(event) : event, (text) => {
        texts.push(text);
        return text;
      });
    }
  }
  return texts;
}

describe.each(ANSWER_MATRIX)('an answer with $title', ({ answered }) => {
  const upstreams = UPSTREAMS.filter((upstream) => answered[upstream] !== undefined);

  it.each(upstreams)('from %s is scanned as a whole', async (upstream) => {
    for (const stream of [false, true]) {
      const events = decoded(answered[upstream] as WireAnswer, upstream, stream);
      const scan = new GuardrailScan(words(), () => {});
      const passed = events.flatMap((event) => passedBy(new AnswerFilter(scan), event));
      expect(scan.receivedCharacters).toBe(receivedCharacters(events));
      const filter = new AnswerFilter(new GuardrailScan(words(), () => {}));
      const redacted = events.flatMap((event) => passedBy(filter, event));
      expect(textsIn(redacted).filter((text) => WORD.test(text))).toEqual([]);
      expect(passed.at(-1)?.type).toBe(events.at(-1)?.type);
    }
  });

  it.each(upstreams)('from %s is judged as a whole', async (upstream) => {
    for (const stream of [false, true]) {
      const events = decoded(answered[upstream] as WireAnswer, upstream, stream);
      const held = new JudgedHold(panelOf(REPLACING));
      const passed = await held.push(events);
      expect(held.takeUnjudged()).toBe(0);
      expect(textsIn(passed).filter((text) => WORD.test(text))).toEqual([]);
      expect(passed.at(-1)?.type).toBe(events.at(-1)?.type);
      // What is allowed passes as it is, however it is cut.
      const allowing = new JudgedHold(panelOf(ALLOWING));
      const allowed: Event[] = [];
      for (const event of events) allowed.push(...(await allowing.push([event])));
      expect(allowed).toEqual(events);
    }
  });
});
