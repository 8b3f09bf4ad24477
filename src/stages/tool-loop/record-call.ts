import type { ToolCallEnd } from '../../ir/leg.ts';
import { passedText, type WireWatch } from '../../ir/wire-watch.ts';
import type { ToolOutcome } from '../../tools/server-tool.ts';
import type { StageContext } from '../stage.ts';

/** A call of a server tool that has ended. */
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
}

/** Adds a call to the record of its generation, with the text of a failure as guardrails let it pass. */
export async function recordCall(
  { outcome, input, ...call }: EndedCall,
  { noteToolCalls }: Pick<StageContext, 'noteToolCalls'>,
  watch: WireWatch | undefined,
): Promise<void> {
  const { output, nanos = 0n, isFailed, shown } = outcome;
  const said = isFailed === true ? shown.error : undefined;
  const error = typeof said === 'string' ? await passedText(said, watch) : undefined;
  const sizes = { inputCharacters: input.length, outputCharacters: output.length };
  noteToolCalls([{ ...call, nanos, ...sizes, ...(error !== undefined && { error }) }]);
}
