import { SSE_TYPE, SseReader } from '../../kit/frames/sse.ts';
import type { Dialect } from '../dialect.ts';
import { pathSegment } from '../shared/requests/path-segment.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { readError } from './error.ts';
import { facts } from './facts.ts';
import { renderRequest } from './render.ts';
import { searches } from './render-searches.ts';

/** The generateContent interface of Google. Only upstreams speak it, so nothing is ever relayed. */
export const gemini: Dialect = {
  name: 'gemini',
  upstream: {
    path: (model, stream) =>
      `/models/${pathOf(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    logProbabilities: 'logprobsResult',
    streamType: SSE_TYPE,
    createFrameReader: (maxBytes) => new SseReader(maxBytes),
    renderRequest,
    renderRelay: renderRequest,
    searches,
    createDecoder,
    decodeBody,
    readError,
  },
  facts,
};

/** A model's name as part of a path; slashes in it are path separators. */
function pathOf(model: string): string {
  return model.split('/').map(pathSegment).join('/');
}
