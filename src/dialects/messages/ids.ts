import type { ReplyContext } from '../dialect.ts';
import { digestedId, type IdForm } from '../shared/answers/digested-id.ts';

const PLAIN_ID = /^[a-zA-Z0-9_-]{1,128}$/;
const ID_FORM: IdForm = { maxCharacters: 128, stem: 'toolu' };

/**
 * An id as this format allows it. The same id always maps to the same one, whatever else the conversation has, so that
 * calls and results still pair and prompt caches match; a digest keeps similar ids apart.
 */
export function toolUseId(callId: string): string {
  return PLAIN_ID.test(callId) ? callId : digestedId(callId, callId, ID_FORM);
}

/** `msg_` and the random part of the generation id. */
export function messageId(context: ReplyContext): string {
  return `msg_${context.generationId.slice(context.generationId.lastIndexOf('-') + 1)}`;
}
