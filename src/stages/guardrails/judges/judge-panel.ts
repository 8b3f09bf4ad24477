import type { Finding, TextPlace } from '../filters/finding.ts';
import { type FoundSpans, type JudgedRow, joinedFindings, joinedTexts } from './joined-texts.ts';
import { type Judge, type JudgedText, JudgeFailure, type Judgement } from './judge.ts';

/** Receives the findings and failures of the services of one generation. */
export interface PanelReport {
  found(findings: readonly Finding[], direction: TextPlace['direction']): void;
  /** A service gave no verdict. Throws if its texts must not pass. */
  failed(judge: Judge, direction: TextPlace['direction'], failure: JudgeFailure): void;
}

export interface JudgedCount {
  readonly engine: Judge['engine'];
  readonly guardrail_id: string;
  characters_sent: number;
  characters_received: number;
}

/** What stands around texts that are judged. */
export interface JudgedContext {
  /** Texts that stand beside each other: places among the texts, and behind them among `judgedBefore`. */
  readonly rows?: readonly JudgedRow[];
  readonly judgedBefore?: readonly JudgedText[];
  /** Receives the findings, instead of the report. */
  readonly found?: (findings: readonly Finding[]) => void;
}

/** What services made of texts, and of each text at its place in a row. */
export interface PanelVerdict {
  readonly texts: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isJudged: boolean;
}

interface PanelJudge {
  readonly judge: Judge;
  readonly count: JudgedCount;
  /** Directions in which an `open` judge failed; it is not called for them again. */
  readonly failed: Set<TextPlace['direction']>;
}

/** The services that judge the texts of one generation, one after the other: each sees what the one before left. */
export class JudgePanel {
  readonly #judges: readonly PanelJudge[];
  readonly #report: PanelReport;
  readonly #signal: AbortSignal;

  constructor(judges: readonly Judge[], report: PanelReport, signal: AbortSignal) {
    this.#judges = judges.map((judge) => {
      const { engine, guardrailId: guardrail_id } = judge;
      const count = { engine, guardrail_id, characters_sent: 0, characters_received: 0 };
      return { judge, count, failed: new Set() };
    });
    this.#report = report;
    this.#signal = signal;
  }

  get isEmpty(): boolean {
    return this.#judges.length === 0;
  }

  get windowCharacters(): number | null {
    const windows = this.#judges.map(({ judge }) => judge.windowCharacters);
    return windows.includes(null) ? null : Math.max(0, ...(windows as number[]));
  }

  get counts(): readonly JudgedCount[] {
    return this.#judges.map(({ count }) => count);
  }

  /**
   * The texts as they may go on, in their order, and those of rows; after a finding that blocks, none may. `isJudged`:
   * every service gave a verdict.
   */
  async judge(
    given: readonly JudgedText[],
    direction: TextPlace['direction'],
    {
      rows: givenRows = [],
      judgedBefore = [],
      found = (findings) => this.#report.found(findings, direction),
    }: JudgedContext = {},
  ): Promise<PanelVerdict> {
    const texts = [...given, ...judgedBefore];
    const alone = [...given.keys()];
    const rows = givenRows.map((row) => ({ ...row, texts: [...row.texts] }));
    let isJudged = true;
    const judges = given.length === 0 && rows.length === 0 ? [] : this.#judges;
    for (const { judge, count, failed } of judges) {
      if (failed.has(direction)) {
        isJudged = false;
        continue;
      }
      try {
        const asked = alone.map((index) => texts[index] as JudgedText);
        const joined = rows.flatMap((row) => joinedTexts(row, texts));
        const all = [...asked, ...joined.map(({ judged }) => judged)];
        const judgement = await judge.judge(all, direction, this.#signal);
        for (const { text } of asked.slice(0, given.length)) count[`characters_${direction}`] += text.length;
        const { findings, changed } = joinedFindings(texts, joined, spansOf(judgement, alone));
        const foundNow = [...judgement.findings, ...findings];
        found(foundNow);
        if (foundNow.some(({ action }) => action === 'block')) break;
        for (const [place, index] of alone.entries()) {
          const text = judgement.texts[place];
          if (text !== undefined) texts[index] = { ...(texts[index] as JudgedText), text };
        }
        for (const row of rows) {
          for (const [at, text] of changed.get(row) ?? []) {
            alone.push(texts.length);
            texts.push({ ...(texts[row.texts[at] as number] as JudgedText), text });
            row.texts[at] = texts.length - 1;
          }
        }
      } catch (failure) {
        if (!(failure instanceof JudgeFailure)) throw failure;
        isJudged = false;
        if (judge.onFailure === 'open') failed.add(direction);
        this.#report.failed(judge, direction, failure);
      }
    }
    const textAt = (index: number) => (texts[index] as JudgedText).text;
    return {
      texts: given.map((_, index) => textAt(index)),
      rows: rows.map((row) => row.texts.map(textAt)),
      isJudged,
    };
  }
}

/** What a service found in texts of which it judged some alone, and in the joined ones behind them. */
function spansOf(judgement: Judgement, alone: readonly number[]): FoundSpans {
  const places = new Map(alone.map((index, place) => [index, place]));
  const known = new Map<number, readonly Finding[]>();
  return {
    ofText(index) {
      const place = places.get(index);
      const spans = known.get(index) ?? (place === undefined ? [] : judgement.spansIn(place));
      known.set(index, spans);
      return spans;
    },
    ofJoined: (place) => judgement.spansIn(alone.length + place),
  };
}
