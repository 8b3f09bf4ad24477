import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { InboundDialect, UpstreamDialect } from '../dialect.ts';
import { decodeBody, encodeBody } from './body.ts';
import { createDecoder } from './decode.ts';
import { createEncoder } from './encode.ts';
import { encodeError, readError } from './error.ts';
import { fileParts } from './file-parts.ts';
import { parseRequest, parseRequestSliced } from './parse-request.ts';
import { renderRelay, renderRequest } from './render-request.ts';
import { searches } from './searches.ts';
import { GATEWAY_FIELDS, requestSchema } from './wire.ts';

/** The messages format as callers speak it. */
export const messagesInbound: InboundDialect = {
  format: 'messages',
  requestSchema,
  gatewayFields: GATEWAY_FIELDS,
  fileParts,
  parseRequest,
  parseRequestSliced,
  createEncoder,
  encodeBody,
  encodeError,
};

/** The messages format as upstreams speak it. */
export const messagesUpstream: UpstreamDialect = {
  name: 'messages',
  path: () => '/messages',
  streamType: SSE_TYPE,
  createFrameReader: (maxBytes) => new SseReader(maxBytes),
  renderRequest,
  renderRelay,
  searches,
  createDecoder,
  decodeBody,
  readError,
};
