import { hash } from 'node:crypto';
import type { ReplyContext } from '../dialect.ts';

const PLAIN_ID = /^[a-zA-Z0-9_-]{1,128}$/;

/** Characters of a digest that keep made ids apart; below, those of the id before it. */
const DIGEST_LENGTH = 12;
const MAX_STEM_CHARACTERS = 128 - 1 - DIGEST_LENGTH;

/**
 * An id as this format allows it. The same id always maps to the same one, whatever else the conversation has, so that
 * calls and results still pair and prompt caches match; a digest keeps similar ids apart.
 */
export function toolUseId(callId: string): string {
  if (PLAIN_ID.test(callId)) return callId;
  const stem = callId.slice(0, MAX_STEM_CHARACTERS).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${stem === '' ? 'toolu' : stem}_${hash('sha256', callId).slice(0, DIGEST_LENGTH)}`;
}

/** `msg_` and the random part of the generation id. */
export function messageId(context: ReplyContext): string {
  return `msg_${context.generationId.slice(context.generationId.lastIndexOf('-') + 1)}`;
}
