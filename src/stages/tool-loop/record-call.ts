import type { ToolCallEnd, ToolCallRecord } from '../../ir/leg.ts';
import { passedText, type WireWatch } from '../../ir/wire-watch.ts';
import type { ToolOutcome } from '../../tools/server-tool.ts';
import type { StageContext } from '../stage.ts';

export interface EndedCall {
  /** Short name of the tool; of one that does not exist, what the model called. */
  readonly name: string;
  /** The arguments as they were written. */
  readonly input: string;
  /** Legs that had begun before the call. */
  readonly leg: number;
  readonly outcome: ToolOutcome;
  readonly end: ToolCallEnd;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly isRun: boolean;
  readonly spanId?: string;
}

/** The record of a call that has begun, in case that the process ends before it does. */
export function begunCall(
  call: Pick<ToolCallRecord, 'name' | 'leg' | 'startedAtMs' | 'spanId'>,
  input: string,
): ToolCallRecord {
  const sizes = { inputCharacters: input.length, outputCharacters: 0 };
  return { ...call, durationMs: 0, end: 'interrupted', isRun: true, nanos: 0n, ...sizes };
}

/**
 * Adds a call to the record of its generation, with the text of a failure as guardrails let it pass. `begun`: its
 * record so far, which is replaced.
 */
export async function recordCall(
  { outcome, input, ...call }: EndedCall,
  { noteToolCalls }: Pick<StageContext, 'noteToolCalls'>,
  watch: WireWatch | undefined,
  begun?: ToolCallRecord,
): Promise<void> {
  const { output, nanos = 0n, isFailed, shown, search } = outcome;
  const said = isFailed === true ? shown.error : undefined;
  const error = typeof said === 'string' ? await passedText(said, watch) : undefined;
  const sizes = { inputCharacters: input.length, outputCharacters: output.length };
  const members = { ...(error !== undefined && { error }), ...(search !== undefined && { search }) };
  noteToolCalls([{ ...call, nanos, ...sizes, ...members }], begun);
}
