import type { DialectName, Format } from '../ir/items.ts';
import { chatInbound, chatUpstream } from './chat/chat.ts';
import type { InboundDialect, UpstreamDialect } from './dialect.ts';
import { messagesInbound, messagesUpstream } from './messages/messages.ts';
import { responsesInbound, responsesUpstream } from './responses/responses.ts';

/** The formats that callers speak. */
export const INBOUND_DIALECTS: Readonly<Record<Format, InboundDialect>> = {
  responses: responsesInbound,
  messages: messagesInbound,
  chat: chatInbound,
};

/** The dialects that upstreams are spoken to in. */
export const UPSTREAM_DIALECTS: Readonly<Partial<Record<DialectName, UpstreamDialect>>> = {
  responses: responsesUpstream,
  messages: messagesUpstream,
  chat: chatUpstream,
};
