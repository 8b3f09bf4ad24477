import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { InboundDialect, UpstreamDialect } from '../dialect.ts';
import { decodeBody, encodeBody } from './body.ts';
import { ResponsesDecoder } from './decode.ts';
import { ResponsesEncoder } from './encode.ts';
import { encodeError, readError } from './error.ts';
import { fileParts } from './file-parts.ts';
import { itemReferences } from './item-references.ts';
import { parseRequest, parseRequestSliced } from './parse-request.ts';
import { renderRelay, renderRequest } from './render-request.ts';
import { searches } from './searches.ts';
import { GATEWAY_FIELDS, requestSchema } from './wire.ts';

/** The responses format as callers speak it. */
export const responsesInbound: InboundDialect = {
  format: 'responses',
  tellsFailures: true,
  requestSchema,
  gatewayFields: GATEWAY_FIELDS,
  fileParts,
  itemReferences,
  parseRequest,
  parseRequestSliced,
  createEncoder: (context) => new ResponsesEncoder(context),
  encodeBody,
  encodeError,
};

/** The responses format as upstreams speak it. */
export const responsesUpstream: UpstreamDialect = {
  name: 'responses',
  path: () => '/responses',
  streamType: SSE_TYPE,
  createFrameReader: (maxBytes) => new SseReader(maxBytes),
  renderRequest,
  renderRelay,
  searches,
  createDecoder: (context) => new ResponsesDecoder(context),
  decodeBody,
  readError,
};
