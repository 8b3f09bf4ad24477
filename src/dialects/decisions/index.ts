import type { DecisionFormat } from '../dialect.ts';
import { encodeEnvelope } from '../shared/answers/error-envelope.ts';
import { readChatError } from '../shared/answers/read-chat-error.ts';
import { decodeBody } from './decode-body.ts';
import { encodeBody } from './encode-body.ts';
import { facts } from './facts.ts';
import { parseRequest } from './parse.ts';
import { renderRequest } from './render.ts';
import { GATEWAY_FIELDS, requestSchema } from './wire.ts';

/** Upstreams that answer decisions themselves get the caller's own body, so that only the path depends on its form. */
const ANSWERING = { renderRequest, decodeBody, readError: readChatError };

/** The decisions format: `POST /decisions` of OpenAI, and System One. */
export const decisions: DecisionFormat = {
  name: 'decisions',
  inbound: {
    requestSchema,
    gatewayFields: GATEWAY_FIELDS,
    pieceLists: ['questions', 'input'],
    parseRequest,
    encodeBody,
    encodeError: encodeEnvelope,
  },
  upstream: { ...ANSWERING, path: () => '/decisions' },
  facts,
  systemOne: { name: 'system-one', upstream: { ...ANSWERING, path: () => '/systemone' } },
};
