import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { ConversationFormat } from '../dialect.ts';
import { functionOfTool } from '../shared/tools/claude-client-tools.ts';
import { countTokens } from './count-tokens.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { createEncoder } from './encode.ts';
import { encodeBody } from './encode-body.ts';
import { encodeError, readError } from './error.ts';
import { facts } from './facts.ts';
import { hosted } from './hosted-tools.ts';
import { hasUnknownTypes, parseRequest } from './parse.ts';
import { carriedItems } from './parse-calls.ts';
import { fileParts } from './parse-files.ts';
import { renderRelay } from './relay.ts';
import { renderRequest, USUAL_VERSION } from './render.ts';
import { countTokensSchema, GATEWAY_FIELDS, requestSchema } from './wire.ts';

/** The messages format: `POST /messages`. */
export const messages: ConversationFormat = {
  name: 'messages',
  inbound: {
    requestSchema,
    counting: {
      requestSchema: countTokensSchema,
      encodeCount: (tokens) => ({ input_tokens: tokens }),
    },
    gatewayFields: GATEWAY_FIELDS,
    fileParts,
    carriedItems,
    functionOfTool,
    pieceLists: ['messages', 'system', 'tools'],
    parseRequest,
    hasUnknownTypes,
    createEncoder,
    encodeBody,
    encodeError,
  },
  upstream: {
    path: () => '/messages',
    streamType: SSE_TYPE,
    createFrameReader: (maxBytes) => new SseReader(maxBytes),
    renderRequest,
    renderRelay,
    countTokens,
    modelList: { path: '/models?limit=1000', headers: { 'anthropic-version': USUAL_VERSION } },
    hosted,
    createDecoder,
    decodeBody,
    readError,
  },
  facts,
};
