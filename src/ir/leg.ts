/** Purpose of one model call inside a generation. A plain request has one leg, of the model that was asked for. */
export type LegKind = 'main' | 'advisor' | 'subagent' | 'panel' | 'judge';

/** Something besides model calls that a generation pays for. */
export type ChargeKind = 'web_search' | 'web_fetch' | 'file_page' | 'image' | 'tool';

/** A charge, which can be taken back if the paid thing was not delivered. */
export interface PaidCharge {
  /** Takes the charge back. */
  waive(): Promise<void>;
}

/** How a leg ended. */
export type LegStatus = 'completed' | 'failed' | 'cancelled';
