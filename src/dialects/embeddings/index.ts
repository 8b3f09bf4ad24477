import type { EmbeddingFormat } from '../dialect.ts';
import { encodeEnvelope } from '../shared/answers/error-envelope.ts';
import { readChatError } from '../shared/answers/read-chat-error.ts';
import { embeddingUpstream } from '../shared/embeddings/embedding-upstream.ts';
import { readAnswer } from './decode.ts';
import { encodeBody } from './encode-body.ts';
import { facts } from './facts.ts';
import { parseRequest } from './parse.ts';
import { renderRequest } from './render.ts';
import { GATEWAY_FIELDS, requestSchema } from './wire.ts';

/**
 * Inputs of one call: OpenAI takes 2,048, but so many vectors as numbers make an answer of more than 100 MB. Endpoints
 * that take fewer have `max_inputs`.
 */
const MAX_INPUTS_OF_CALL = 512;

/** The embeddings format of OpenAI: `POST /embeddings`. */
export const embeddings: EmbeddingFormat = {
  name: 'embeddings',
  inbound: {
    requestSchema,
    gatewayFields: GATEWAY_FIELDS,
    pieceLists: ['tools'],
    parseRequest,
    encodeBody,
    encodeError: encodeEnvelope,
  },
  upstream: embeddingUpstream({
    path: () => '/embeddings',
    embeddings: { maxInputs: () => MAX_INPUTS_OF_CALL, takesTokenIds: true },
    renderRequest,
    read: readAnswer,
    readError: readChatError,
  }),
  facts,
};
