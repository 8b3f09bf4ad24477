/** Meaning of each status of a refusal, and a remedy for the caller. */
export const ERROR_MEANINGS = {
  400: [
    'The request is wrong.',
    '`error.metadata.issues` lists every wrong field with its path. Mend and send again.',
  ],
  401: ['The key is missing or unknown.', 'Send `Authorization: Bearer KEY` or `x-api-key: KEY`.'],
  402: ['A key limit, a budget or the balance is used up.', 'Raise the limit, or wait until it resets.'],
  403: [
    'The key may not do this, or a guardrail blocked the request.',
    'Management operations need a management key; generations need an API key.',
  ],
  404: [
    'The thing does not exist, or no endpoint is left for the model.',
    'The message lists why each endpoint was left out. `POST /routing/explain` shows the same.',
  ],
  405: ['The path exists, the method does not.', 'The header `Allow` lists the methods.'],
  408: ['The gateway’s own time limit passed.', 'Send the body faster, ask for less, or stream.'],
  409: [
    'Something else has that name, or the configuration file manages it.',
    'Choose another name, or change the file.',
  ],
  410: ['The operation was removed.', 'The message says what to use instead.'],
  413: ['The body is too large.', 'Send less, or upload files and name them by their id.'],
  415: [
    'The body is of another type than the operation reads, or compressed.',
    'Send `Content-Type: application/json`, uncompressed.',
  ],
  422: [
    'Each field is valid, but not together or not for this model.',
    'The message says which fields contradict each other.',
  ],
  429: [
    'A rate limit was reached, here or at the provider.',
    'Wait for the seconds in `Retry-After`, then try again.',
  ],
  431: ['The headers are too large.', 'Send at most 16 KiB of headers.'],
  500: ['A fault of the gateway.', 'Try again; tell the operator the `request-id` of the reply.'],
  502: [
    'Providers failed or could not be reached.',
    'Try again; `error.metadata` names the provider and its answer.',
  ],
  503: [
    'The gateway is overloaded, starting, draining, or cannot reserve money.',
    'Wait for the seconds in `Retry-After`, then try again.',
  ],
  524: ['The provider did not answer in time.', 'Try again, or choose another model.'],
  529: ['The provider is overloaded.', 'Try again later, or name fallback models.'],
} as const satisfies Record<number, readonly [meaning: string, remedy: string]>;

export type ErrorStatus = keyof typeof ERROR_MEANINGS;
