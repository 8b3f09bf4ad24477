import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { ConversationFormat } from '../dialect.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { createEncoder } from './encode.ts';
import { encodeBody } from './encode-body.ts';
import { encodeError, readError } from './error.ts';
import { facts } from './facts.ts';
import { hosted } from './hosted-tools.ts';
import { itemReferences } from './kept-calls.ts';
import { hasUnknownTypes, parseRequest } from './parse.ts';
import { fileParts } from './parse-files.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';
import { GATEWAY_FIELDS, requestSchema } from './wire.ts';

/** The chat format: `POST /chat/completions`. */
export const chat: ConversationFormat = {
  name: 'chat',
  inbound: {
    requestSchema,
    gatewayFields: GATEWAY_FIELDS,
    fileParts,
    itemReferences,
    pieceLists: ['messages', 'tools'],
    parseRequest,
    hasUnknownTypes,
    createEncoder,
    encodeBody,
    encodeError,
  },
  upstream: {
    path: () => '/chat/completions',
    logProbabilities: 'logprobs',
    streamType: SSE_TYPE,
    createFrameReader: (maxBytes) => new SseReader(maxBytes),
    renderRequest,
    renderRelay,
    modelList: { path: '/models' },
    hosted,
    createDecoder,
    decodeBody,
    readError,
  },
  facts,
};
