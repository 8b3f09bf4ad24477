import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { ConversationFormat, FormatDialect } from '../dialect.ts';
import { compaction } from './compaction.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { createEncoder } from './encode.ts';
import { encodeBody } from './encode-body.ts';
import { encodeError, readError } from './error.ts';
import { facts } from './facts.ts';
import { hosted } from './hosted-tools.ts';
import { functionOfTool } from './local-shells.ts';
import { parseRequest, settingsOfItem } from './parse.ts';
import { carriedItems } from './parse-calls.ts';
import { itemReferences } from './parse-content.ts';
import { fileParts } from './parse-files.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';
import { GATEWAY_FIELDS, requestSchema } from './wire.ts';

/** The format, with that of conversations to compact. */
interface ResponsesFormat extends ConversationFormat {
  readonly compaction: FormatDialect;
}

/** The responses format: `POST /responses`. */
export const responses: ResponsesFormat = {
  name: 'responses',
  inbound: {
    encodesFailedAnswers: true,
    // Agents look for `error.code` in the stream: that of an HTTP error is its status.
    streamedFailures: new Set(['context-length']),
    requestSchema,
    counting: {
      requestSchema,
      encodeCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    },
    gatewayFields: GATEWAY_FIELDS,
    fileParts,
    itemReferences,
    carriedItems,
    settingsOfItem,
    functionOfTool,
    pieceLists: ['input', 'tools'],
    parseRequest,
    createEncoder,
    encodeBody,
    encodeError,
  },
  upstream: {
    path: () => '/responses',
    echoes: new Set(['tools', 'text']),
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
  compaction,
};
