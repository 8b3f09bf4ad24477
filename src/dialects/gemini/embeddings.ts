import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsAt } from '../../kit/json/members.ts';
import { type EmbeddingDialect, NO_HEADERS } from '../dialect.ts';
import { embeddingUpstream } from '../shared/embeddings/embedding-upstream.ts';
import { type InputTypes, inputTypeOf, reportUnknown, textsOf } from '../shared/embeddings/input-types.ts';
import { Report } from '../shared/report/report.ts';
import { pathSegments } from '../shared/requests/path-segment.ts';
import { readError } from './error.ts';

const MAX_INPUTS = 100;

const TASK_TYPES: InputTypes = new Map([
  ['search_query', 'RETRIEVAL_QUERY'],
  ['query', 'RETRIEVAL_QUERY'],
  ['search_document', 'RETRIEVAL_DOCUMENT'],
  ['document', 'RETRIEVAL_DOCUMENT'],
  ['passage', 'RETRIEVAL_DOCUMENT'],
  ['classification', 'CLASSIFICATION'],
  ['clustering', 'CLUSTERING'],
  ['similarity', 'SEMANTIC_SIMILARITY'],
  ['semantic_similarity', 'SEMANTIC_SIMILARITY'],
  ['question_answering', 'QUESTION_ANSWERING'],
  ['fact_verification', 'FACT_VERIFICATION'],
  ['code_retrieval_query', 'CODE_RETRIEVAL_QUERY'],
]);

/** The batchEmbedContents interface of Google. Only upstreams speak it. */
export const embeddings: EmbeddingDialect = {
  name: 'gemini-embeddings',
  upstream: embeddingUpstream({
    path: (model) => `/models/${pathSegments(model)}:batchEmbedContents`,
    embeddings: { maxInputs: () => MAX_INPUTS, takesTokenIds: false },
    renderRequest(request, { model }) {
      const report = new Report(request);
      const shared = compact({
        model: `models/${model}`,
        taskType: inputTypeOf(request, TASK_TYPES, report),
        outputDimensionality: request.embedding?.dimensions,
      }) as JsonObject;
      reportUnknown(request, report);
      const requests = textsOf(request).map((text) => ({ ...shared, content: { parts: [{ text }] } }));
      return { body: { requests }, headers: NO_HEADERS, report: report.entries };
    },
    read: (body) => ({
      vectors: Array.isArray(body.embeddings)
        ? objectsAt(body, 'embeddings').map(({ values }) => values)
        : undefined,
      // Not all API versions report it.
      inputTokens: objectAt(body, 'usageMetadata')?.promptTokenCount,
    }),
    readError,
  }),
};
