import { hash } from 'node:crypto';
import { namedTrace, traceMembersOf } from '../ir/trace.ts';
import { textAt } from '../kit/json/members.ts';
import type { StoredGeneration } from '../ports/generations/generations.ts';

/** Bytes of the digest that decide: as many as a number holds exactly. */
const BYTES = 6;

/**
 * Whether a generation is in a sample. Generations of one session, or else of one trace, are in it together; so are
 * those of a smaller sample in every larger one.
 */
export function isSampled(generation: Pick<StoredGeneration, 'id' | 'row'>, rate: number): boolean {
  if (rate >= 1) return true;
  const digest = hash('sha256', samplingKey(generation), 'buffer');
  return digest.readUIntBE(0, BYTES) / 256 ** BYTES < rate;
}

function samplingKey({ id, row }: Pick<StoredGeneration, 'id' | 'row'>): string {
  return textAt(row, 'session_id') ?? namedTrace(traceMembersOf(row)).traceId ?? id;
}
