import type { AppliedGuardrail, GuardrailScope } from '../../../ports/tenancy/guardrails.ts';
import type { Finding, TextPlace } from '../filters/finding.ts';

export interface JudgedText {
  readonly text: string;
  readonly role: TextPlace['role'];
  /** Where it stands: a path in the caller's body, or in the output. */
  readonly place: string;
  /** The end of what came before it in the same text, which has been judged already. */
  readonly before?: string;
  /** Present if it is made of the ends of so many texts that stand beside each other. */
  readonly joined?: number;
}

export interface Judgement {
  /** The texts as they may go on, in their order. */
  readonly texts: readonly string[];
  /** Findings besides those in joined texts. */
  readonly findings: readonly Finding[];
  /** What was found in one of the texts, with places in it. */
  spansIn(index: number): readonly Finding[];
}

/** A service that judges texts. `judge` rejects with a JudgeFailure, or the signal's reason. */
export interface Judge {
  readonly engine: 'service' | 'nlp';
  readonly guardrailId: string;
  readonly scope: GuardrailScope;
  /** Fate of texts without a verdict: `closed` = refused, `open` = passed. */
  readonly onFailure: 'closed' | 'open';
  /** Characters of an answer that are judged at a time; null = the whole answer at once. */
  readonly windowCharacters: number | null;
  judge(
    texts: readonly JudgedText[],
    direction: TextPlace['direction'],
    signal: AbortSignal,
  ): Promise<Judgement>;
}

/** The services of the guardrails that apply to a caller. `generationId`: null = a trial. */
export type JudgesFor = (
  applied: readonly AppliedGuardrail[],
  generationId: string | null,
) => readonly Judge[];

/** A service gave no verdict. Its message names no address. */
export class JudgeFailure extends Error {}
