import type { Use } from '../../ports/ledger.ts';
import { type OpenGeneration, resolutionOf } from './open-generation.ts';

/**
 * How a generation ended whose gateway crashed: as far as it had come, and with an error. Where its upstream had said what it
 * used, its checkpoint says so.
 */
export function interruptedUse(generation: OpenGeneration, atMs: number): Use {
  const { charge, usageSource } = resolutionOf(generation);
  return {
    used: charge,
    atMs,
    row: {
      ...generation.row,
      ...generation.checkpoint?.row,
      finish_reason: 'error',
      cancelled: false,
      usage_source: generation.checkpoint?.row.usage_source ?? usageSource,
    },
  };
}
