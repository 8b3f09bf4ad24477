import { AWS_EVENT_TYPE, AwsEventReader } from '../../kit/frames/aws-event-frames.ts';
import type { Dialect } from '../dialect.ts';
import { pathSegment } from '../shared/requests/path-segment.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { readError } from './error.ts';
import { facts } from './facts.ts';
import { renderRelay, renderRequest } from './render.ts';

/** The Converse interface of Amazon Bedrock. Only upstreams speak it. */
export const bedrock: Dialect = {
  name: 'bedrock',
  upstream: {
    path: (model, stream) => `/model/${pathSegment(model)}/${stream ? 'converse-stream' : 'converse'}`,
    streamType: AWS_EVENT_TYPE,
    createFrameReader: (maxBytes) => new AwsEventReader(maxBytes),
    renderRequest,
    renderRelay,
    createDecoder,
    decodeBody,
    readError,
  },
  facts,
};
