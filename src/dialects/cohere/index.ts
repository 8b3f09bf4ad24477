import { objectAt, textAt } from '../../kit/json/members.ts';
import { type EmbeddingDialect, NO_HEADERS } from '../dialect.ts';
import { readChatError } from '../shared/answers/read-chat-error.ts';
import { COHERE_MAX_INPUTS, cohereBody, cohereVectors } from '../shared/embeddings/cohere-form.ts';
import { embeddingUpstream } from '../shared/embeddings/embedding-upstream.ts';
import { Report } from '../shared/report/report.ts';

/** The embed interface of Cohere, version 2. Only upstreams speak it; its conversations are in the chat dialect. */
export const cohere: EmbeddingDialect = {
  name: 'cohere-embeddings',
  upstream: embeddingUpstream({
    path: () => '/v2/embed',
    // Its conversations are at an interface that is compatible with another vendor's.
    replacedPaths: ['/compatibility/v1', '/v1', '/v2'],
    embeddings: { maxInputs: () => COHERE_MAX_INPUTS, takesTokenIds: false },
    renderRequest(request, { model }) {
      const report = new Report(request);
      const body = { model, ...cohereBody(request, report) };
      return { body, headers: NO_HEADERS, report: report.entries };
    },
    read: (body) => ({
      vectors: cohereVectors(body),
      inputTokens: objectAt(objectAt(body, 'meta'), 'billed_units')?.input_tokens,
      id: textAt(body, 'id'),
    }),
    readError: readChatError,
  }),
};
