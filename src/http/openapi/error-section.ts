import { ERROR_TABLE } from '../../ir/errors.ts';
import { escapeHtml, inline } from './html.ts';

/** What each refusal means and what a caller can do. */
const ADVICE: Readonly<Record<number, readonly [meaning: string, remedy: string]>> = {
  400: [
    'The request is wrong.',
    '`error.metadata.issues` lists every wrong field with its path. Mend and send again.',
  ],
  401: ['The key is missing or unknown.', 'Send `Authorization: Bearer KEY` or `x-api-key: KEY`.'],
  402: [
    'A key limit, a budget or the balance is used up.',
    'Raise the limit, or wait until its window begins anew.',
  ],
  403: [
    'The key may not do this.',
    'Management operations need a management key; generations need an API key.',
  ],
  404: [
    'The thing does not exist, or no endpoint is left for the model.',
    'The message lists why each endpoint was left out. `POST /routing/explain` shows the same.',
  ],
  405: ['The path exists, the method does not.', 'The header `Allow` lists the methods.'],
  408: ['The gateway’s own time limit passed.', 'Send the body faster, ask for less, or stream.'],
  409: ['Something else has that name.', 'Choose another one.'],
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
};

/** Statuses that are worth sending the same request again for. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 524, 529]);

const ENVELOPE = {
  error: {
    code: 400,
    message: 'temperature: must be <= 2',
    metadata: {
      issues: [{ path: 'temperature', message: 'must be <= 2' }],
      error_type: 'invalid_request',
    },
  },
};

const MESSAGES_ERROR = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    code: 400,
    message: 'messages: must have at least 1 item',
    error_type: 'invalid_request',
  },
  request_id: null,
};

/** The section that explains every error. */
export function errorSection(): string {
  const rows = [...new Set(Object.values(ERROR_TABLE).map(({ status }) => status))].map((status) => {
    const types = new Set(
      Object.values(ERROR_TABLE)
        .filter((row) => row.status === status)
        .map(({ errorType }) => `<code>${errorType}</code>`),
    );
    const [meaning, remedy] = ADVICE[status] ?? ['', ''];
    return (
      `<tr id="error-${status}"><td><code>${status}</code></td><td>${[...types].join('<br>')}</td>` +
      `<td>${inline(meaning)}</td><td>${inline(remedy)}</td><td>${RETRYABLE.has(status) ? 'yes' : 'no'}</td></tr>`
    );
  });
  return `<section id="errors" data-search="errors status codes retry">
<h2>Errors</h2>
<p class="lead">Every error is JSON with the HTTP status, a sentence for people and <code>error_type</code> for programs.
Before the first content of a stream an error is a plain reply with its status; after it, the stream ends with an error
event. The official clients retry where “Again” says yes.</p>
<div class="two"><div><h4>Everywhere but <code>/messages</code></h4>${jsonBlock(ENVELOPE)}</div>
<div><h4>On <code>/messages</code></h4>${jsonBlock(MESSAGES_ERROR)}</div></div>
<div class="wide"><table><tr><th>Status</th><th><code>error_type</code></th><th>Meaning</th><th>What to do</th><th>Again</th></tr>
${rows.join('\n')}</table></div>
</section>`;
}

function jsonBlock(value: object): string {
  return `<pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`;
}
