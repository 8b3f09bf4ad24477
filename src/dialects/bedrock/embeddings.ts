import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact } from '../../kit/json/members.ts';
import { quoted } from '../../kit/text/quoted.ts';
import { type EmbeddingDialect, NO_HEADERS } from '../dialect.ts';
import { COHERE_MAX_INPUTS, cohereBody, cohereVectors } from '../shared/embeddings/cohere-form.ts';
import { embeddingUpstream, type VectorAnswer } from '../shared/embeddings/embedding-upstream.ts';
import { reportUnknown, textsOf } from '../shared/embeddings/input-types.ts';
import { Report } from '../shared/report/report.ts';
import { pathSegment } from '../shared/requests/path-segment.ts';
import { readError } from './error.ts';

/** Header with the tokens of a call, if the body has no count. */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count';

/** Models with the same request body: at Bedrock each vendor has its own. */
interface Family {
  /** Matches the name of a model after its region prefix. */
  readonly names: RegExp;
  readonly maxInputs: number;
  readonly render: (request: GenerationRequest, report: Report) => JsonObject;
  readonly vectors: (body: JsonObject) => VectorAnswer['vectors'];
}

const FAMILIES: readonly Family[] = [
  {
    names: /\bamazon\.titan-embed-(?:text|g1-text)/,
    maxInputs: 1,
    render(request, report) {
      if (request.embedding?.inputType !== undefined) {
        report.dropped('input_type', 'the model makes one kind of vectors');
      }
      reportUnknown(request, report);
      return compact({
        inputText: textsOf(request)[0],
        dimensions: request.embedding?.dimensions,
      }) as JsonObject;
    },
    vectors: ({ embedding }) => (Array.isArray(embedding) ? [embedding] : undefined),
  },
  {
    names: /\bcohere\.embed-/,
    maxInputs: COHERE_MAX_INPUTS,
    render: cohereBody,
    vectors: cohereVectors,
  },
];

/** The InvokeModel interface of Amazon Bedrock for embeddings. Only upstreams speak it. */
export const embeddings: EmbeddingDialect = {
  name: 'bedrock-embeddings',
  upstream: embeddingUpstream({
    path: (model) => `/model/${pathSegment(model)}/invoke`,
    embeddings: { maxInputs: (model) => familyOf(model)?.maxInputs ?? 1, takesTokenIds: false },
    renderRequest(request, { model }) {
      const family = familyOf(model);
      if (family === undefined) throw unknownFamily(model);
      const report = new Report(request);
      const body = family.render(request, report);
      return { body, headers: NO_HEADERS, report: report.entries };
    },
    read: (body, { headers }) => ({
      vectors: FAMILIES.map(({ vectors }) => vectors(body)).find((vectors) => vectors !== undefined),
      inputTokens: body.inputTextTokenCount ?? countIn(headers?.[TOKENS_HEADER]),
    }),
    readError,
  }),
};

function familyOf(model: string): Family | undefined {
  return FAMILIES.find(({ names }) => names.test(model));
}

function countIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function unknownFamily(model: string): GatewayError {
  return new GatewayError(
    'invalid-request',
    `${quoted(model)} is no embedding model of Bedrock that this gateway knows: it knows Titan and Cohere`,
  );
}
