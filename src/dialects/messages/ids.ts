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

/** Marks blocks of server tools as the gateway's own: upstreams neither know their ids nor can read their texts. */
const OWN_USE_PREFIX = 'srvtoolu_sb_';

export function serverToolUseId(callId: string): string {
  return OWN_USE_PREFIX + toolUseId(callId).slice(0, ID_FORM.maxCharacters - OWN_USE_PREFIX.length);
}

/** Marks blocks for calls of MCP servers as the gateway's own. */
const OWN_MCP_PREFIX = 'mcptoolu_sb_';

export function mcpToolUseId(callId: string): string {
  return OWN_MCP_PREFIX + toolUseId(callId).slice(0, ID_FORM.maxCharacters - OWN_MCP_PREFIX.length);
}

/** Marks calls of searches that an upstream of another dialect ran: their blocks show less than its model got. */
const UPSTREAM_CALL_PREFIX = 'up_';

/** The id of the call of such a search. */
export function upstreamCallId(id: string): string {
  return UPSTREAM_CALL_PREFIX + id;
}

export function isUpstreamCall(callId: string): boolean {
  return callId.startsWith(UPSTREAM_CALL_PREFIX);
}

/** The id of the call that a block of the gateway's own server tools belongs to; undefined = it is an upstream's. */
export function ownServerCallId(id: string): string | undefined {
  const prefix = [OWN_USE_PREFIX, OWN_MCP_PREFIX].find((each) => id.startsWith(each));
  return prefix === undefined ? undefined : id.slice(prefix.length);
}

const TEXT_PREFIX = 'sb1.';

/** The text of a result as a member that clients send back unread. */
export function wrapText(text: string): string {
  return TEXT_PREFIX + Buffer.from(text, 'utf8').toString('base64url');
}

/** The text of `wrapText`; empty if it is no such text. */
export function unwrapText(wrapped: string): string {
  if (!wrapped.startsWith(TEXT_PREFIX)) return '';
  return Buffer.from(wrapped.slice(TEXT_PREFIX.length), 'base64url').toString('utf8');
}
