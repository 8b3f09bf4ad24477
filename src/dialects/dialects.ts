import type { DialectName, Format } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Issue } from '../kit/json/validate.ts';
import { bedrockUpstream } from './bedrock/bedrock.ts';
import { chatInbound, chatUpstream } from './chat/chat.ts';
import { unknownItemIssues as chatUnknown } from './chat/parse-request.ts';
import type { InboundDialect, UpstreamDialect } from './dialect.ts';
import { geminiUpstream } from './gemini/gemini.ts';
import { messagesInbound, messagesUpstream } from './messages/messages.ts';
import { unknownItemIssues as messagesUnknown } from './messages/parse-request.ts';
import { unknownItemIssues as responsesUnknown } from './responses/parse-request.ts';
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
  gemini: geminiUpstream,
  bedrock: bedrockUpstream,
};

/** What of a request only an upstream of its own format can take, by path. */
const UNTRANSLATABLE: Readonly<Record<Format, (request: GenerationRequest) => Issue[]>> = {
  responses: responsesUnknown,
  messages: messagesUnknown,
  chat: chatUnknown,
};

/** Items and parts that nobody can translate, because nobody knows them. */
export function untranslatableIssues(request: GenerationRequest): Issue[] {
  return UNTRANSLATABLE[request.format](request);
}
