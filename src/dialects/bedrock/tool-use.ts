import { digestedId } from '../shared/answers/digested-id.ts';
import { MAX_ID_LENGTH } from './wire.ts';

/** Ids and input of tool calls as the upstream takes them. */

const PLAIN_ID = /^[a-zA-Z0-9_-]+$/;

/**
 * Gives the calls of a conversation their ids. The same id always gives the same one, whatever else the conversation
 * holds, so that caches still match; only a call whose id was there before gets another.
 */
export class CallIds {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  take(callId: string): string {
    let id = plainId(callId);
    let number = this.#numbers.get(callId) ?? 2;
    for (; this.#taken.has(id); number++) id = digestedId(callId, `${callId} ${number}`);
    this.#numbers.set(callId, number);
    this.#taken.add(id);
    return id;
  }
}

function plainId(callId: string): string {
  return callId.length <= MAX_ID_LENGTH && PLAIN_ID.test(callId) ? callId : digestedId(callId, callId);
}
