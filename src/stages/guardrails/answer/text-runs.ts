import type { Event, EventBatch } from '../../../ir/events.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import { SLICE_WORK } from '../../../kit/pattern/threads.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import type { ReceivedText } from './received-text.ts';
import type { ToolInputPieces } from './tool-input-pieces.ts';

export type TextDelta = Extract<Event, { type: 'text-delta' }>;

/** A text that comes back in pieces, plain or as JSON. */
export type TextInPieces = ToolInputPieces | ReceivedText;

/** Two or more pieces of one text that stand in a row from an index on; undefined = there is one or none. */
export function runAt(batch: EventBatch, at: number): readonly TextDelta[] | undefined {
  const first = batch[at];
  if (first?.type !== 'text-delta' || first.logprobs !== undefined) return undefined;
  let end = at + 1;
  for (; end < batch.length; end++) {
    const next = batch[end];
    if (next?.type !== 'text-delta' || next.logprobs !== undefined) break;
    if (next.item !== first.item || next.part !== first.part || next.kind !== first.kind) break;
  }
  return end - at === 1 ? undefined : (batch.slice(at, end) as TextDelta[]);
}

/** With many patterns the first characters of a piece are dearest: automata are made when they are read. */
const FIRST_CHARACTERS = 2;
const MANY_PATTERNS_SLICE = 512;

/**
 * Pushes a long piece in shorter ones. With many patterns each is up to twice as long as the one before, and shorter if
 * that took long.
 */
export function* pushedInSlices(
  text: TextInPieces,
  piece: string,
  scan: Pick<GuardrailScan, 'sliceCharacters' | 'patternWork'>,
): Sliced<string> {
  const { sliceCharacters } = scan;
  let release = '';
  let length = sliceCharacters < MANY_PATTERNS_SLICE ? FIRST_CHARACTERS : sliceCharacters;
  for (let at = 0; at < piece.length; ) {
    if (at > 0) yield;
    const before = scan.patternWork;
    release += text.push(piece.slice(at, at + length));
    at += length;
    const perCharacter = (scan.patternWork - before) / length;
    const affordable = Math.max(1, Math.floor(SLICE_WORK / (perCharacter + 1)));
    length = Math.min(2 * length, sliceCharacters, affordable);
  }
  return release;
}
