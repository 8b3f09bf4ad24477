import type { Nanos } from '../kit/money.ts';

/** Purpose of one model call inside a generation. A plain request has one leg, of the model that was asked for. */
export type LegKind = 'main' | 'advisor' | 'subagent' | 'panel' | 'judge';

/** Something besides model calls that a generation pays for. */
export type ChargeKind = 'web_search' | 'web_fetch' | 'file_page' | 'image' | 'tool' | 'dropped_answer';

/** A charge, which can be taken back if the paid thing was not delivered. */
export interface PaidCharge {
  waive(): Promise<void>;
}

export type LegStatus = 'completed' | 'failed' | 'cancelled';

/** How a call of a server tool ended. `interrupted`: it had not when its generation was recorded. */
export type ToolCallEnd = 'ok' | 'error' | 'timeout' | 'cancelled' | 'interrupted';

export interface ToolSearch {
  readonly engine: string;
  readonly results: number;
}

export interface ToolCallRecord {
  /** Short name of the tool, `<label>__<tool>` of an MCP server; of one that does not exist, what the model called. */
  readonly name: string;
  /** Legs that had begun before the call. */
  readonly leg: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly end: ToolCallEnd;
  /** False if the tool was not run: it does not exist, its arguments are not valid, or its call needs approval. */
  readonly isRun: boolean;
  /** Cost besides legs. */
  readonly nanos: Nanos;
  readonly inputCharacters: number;
  readonly outputCharacters: number;
  /** What the model was told about a failure. */
  readonly error?: string;
  readonly search?: ToolSearch;
  /** The span that the service of the tool was told of. */
  readonly spanId?: string;
}
