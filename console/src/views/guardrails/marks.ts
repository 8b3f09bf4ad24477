import type { GuardrailVerdict } from '../../../../src/contract/guardrails/trial.ts';

type Finding = Pick<GuardrailVerdict['findings'][number], 'start' | 'end' | 'action' | 'engine'>;

/** A piece of a text; null = nothing was found in it. */
export interface MarkedPiece {
  readonly text: string;
  readonly action: Finding['action'] | null;
}

/** Cuts a text at its matches. Places of services are those of the text that filters left, so they have no mark. */
export function marksIn(text: string, findings: readonly Finding[]): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  let at = 0;
  const inOrder = findings
    .filter(({ engine }) => engine !== 'service')
    .sort((one, other) => one.start - other.start || other.end - one.end);
  for (const { start, end, action } of inOrder) {
    if (start < at || end > text.length) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), action: null });
    pieces.push({ text: text.slice(start, end), action });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), action: null });
  return pieces;
}
