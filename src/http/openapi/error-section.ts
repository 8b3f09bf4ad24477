import { ERROR_MEANINGS } from '../../contract/envelopes/error-meanings.ts';
import { ERROR_TABLE } from '../../ir/errors.ts';
import { codeBlock, inline } from './html.ts';

const MEANINGS = new Map(Object.entries(ERROR_MEANINGS).map(([status, row]) => [Number(status), row]));

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

export function errorSection(): string {
  const rows = [...new Set(Object.values(ERROR_TABLE).map(({ status }) => status))].map((status) => {
    const types = new Set(
      Object.values(ERROR_TABLE)
        .filter((row) => row.status === status)
        .map(({ errorType }) => `<code>${errorType}</code>`),
    );
    const [meaning, remedy] = MEANINGS.get(status) ?? ['', ''];
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
  return codeBlock(JSON.stringify(value, null, 2), 'answer');
}
