import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { ConversationDialect, EmbeddingDialect } from '../dialect.ts';
import { pathSegments } from '../shared/requests/path-segment.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { embeddings } from './embeddings.ts';
import { readError } from './error.ts';
import { facts } from './facts.ts';
import { hosted } from './hosted-tools.ts';
import { renderRequest } from './render.ts';

/** The generateContent interface of Google. Only upstreams speak it, so nothing is ever relayed. */
export const gemini: ConversationDialect & { readonly embeddings: EmbeddingDialect } = {
  name: 'gemini',
  upstream: {
    path: (model, stream) =>
      `/models/${pathSegments(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    logProbabilities: 'logprobsResult',
    streamType: SSE_TYPE,
    createFrameReader: (maxBytes) => new SseReader(maxBytes),
    renderRequest,
    modelList: { path: '/models?pageSize=1000' },
    hosted,
    createDecoder,
    decodeBody,
    readError,
  },
  facts,
  embeddings,
};
