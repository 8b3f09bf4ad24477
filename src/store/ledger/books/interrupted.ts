import type { JsonObject } from '../../../kit/json/json.ts';
import type { Use } from '../../../ports/ledger.ts';
import { type OpenGeneration, resolutionOf } from './open-generation.ts';

/** Makes the row of a generation of what was kept of it when it was accepted. */
export type WholeRow = (accepted: JsonObject) => JsonObject;

const asIs: WholeRow = (row) => row;

/**
 * How a generation ended whose gateway crashed: as far as it had come, and with an error. Where its upstream had said what it
 * used, its checkpoint says so.
 */
export function interruptedUse(generation: OpenGeneration, atMs: number, wholeRow: WholeRow = asIs): Use {
  const { charge, usageSource } = resolutionOf(generation);
  return {
    used: charge,
    atMs,
    row: {
      ...wholeRow(generation.row),
      ...generation.checkpoint?.row,
      finish_reason: 'error',
      cancelled: false,
      usage_source: generation.checkpoint?.row.usage_source ?? usageSource,
    },
  };
}
