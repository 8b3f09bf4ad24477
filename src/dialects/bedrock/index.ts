import { AWS_EVENT_TYPE, AwsEventReader } from '../../kit/frames/aws-event-frames.ts';
import type { ConversationDialect, EmbeddingDialect } from '../dialect.ts';
import { pathSegment } from '../shared/requests/path-segment.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { embeddings } from './embeddings.ts';
import { readError } from './error.ts';
import { facts } from './facts.ts';
import { renderRequest } from './render.ts';

/** The Converse interface of Amazon Bedrock. Only upstreams speak it. */
export const bedrock: ConversationDialect & { readonly embeddings: EmbeddingDialect } = {
  name: 'bedrock',
  upstream: {
    path: (model, stream) => `/model/${pathSegment(model)}/${stream ? 'converse-stream' : 'converse'}`,
    streamType: AWS_EVENT_TYPE,
    createFrameReader: (maxBytes) => new AwsEventReader(maxBytes),
    renderRequest,
    createDecoder,
    decodeBody,
    readError,
  },
  facts,
  embeddings,
};
