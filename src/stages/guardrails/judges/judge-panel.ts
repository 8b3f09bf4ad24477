import type { Finding, TextPlace } from '../filters/finding.ts';
import { type Judge, type JudgedText, JudgeFailure } from './judge.ts';

/** Receives the findings and failures of the services of one generation. */
export interface PanelReport {
  found(findings: readonly Finding[], direction: TextPlace['direction']): void;
  /** A service gave no verdict. Throws if its texts must not pass. */
  failed(judge: Judge, direction: TextPlace['direction'], failure: JudgeFailure): void;
}

/** How much a service has judged. */
export interface JudgedCount {
  readonly engine: Judge['engine'];
  readonly guardrail_id: string;
  characters_sent: number;
  characters_received: number;
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

  /** Characters of an answer that are judged at a time; null = the whole answer at once. */
  get windowCharacters(): number | null {
    const windows = this.#judges.map(({ judge }) => judge.windowCharacters);
    return windows.includes(null) ? null : Math.max(0, ...(windows as number[]));
  }

  get counts(): readonly JudgedCount[] {
    return this.#judges.map(({ count }) => count);
  }

  /**
   * The texts as they may go on, in their order; after a finding that blocks, none may. `isJudged`: every service gave
   * a verdict. `found`: receives the findings, instead of the report.
   */
  async judge(
    given: readonly JudgedText[],
    direction: TextPlace['direction'],
    found: (findings: readonly Finding[]) => void = (findings) => this.#report.found(findings, direction),
  ): Promise<{ readonly texts: readonly string[]; readonly isJudged: boolean }> {
    let current = given;
    let isJudged = true;
    if (given.length === 0) return { texts: [], isJudged };
    for (const { judge, count, failed } of this.#judges) {
      if (failed.has(direction)) {
        isJudged = false;
        continue;
      }
      try {
        const { texts, findings } = await judge.judge(current, direction, this.#signal);
        count[`characters_${direction}`] += current.reduce((sum, { text }) => sum + text.length, 0);
        found(findings);
        if (findings.some(({ action }) => action === 'block')) break;
        current = current.map((each, index) => ({ ...each, text: texts[index] ?? each.text }));
      } catch (failure) {
        if (!(failure instanceof JudgeFailure)) throw failure;
        isJudged = false;
        if (judge.onFailure === 'open') failed.add(direction);
        this.#report.failed(judge, direction, failure);
      }
    }
    return { texts: current.map(({ text }) => text), isJudged };
  }
}
