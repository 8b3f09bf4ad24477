import type { GenerationRequest } from '../../ir/request.ts';
import { tokenCount } from '../../ir/usage.ts';
import type { RenderedRequest, RenderTarget, TokenCounting } from '../dialect.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

/** Fields for the answer or its reader: an upstream that only counts the prompt refuses them. */
const UNCOUNTED_FIELDS: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
]);

/** The native `POST /messages/count_tokens`. */
export const countTokens: TokenCounting = {
  path: () => '/messages/count_tokens',
  renderRequest: renderCountTokens,
  readCount: ({ input_tokens }) => tokenCount(input_tokens),
};

/**
 * Body of the native `POST /messages/count_tokens`: the caller's own body if it has this format, else a translation.
 * The endpoint's output limit does not apply.
 */
export function renderCountTokens(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const { outputLimit: _uncounted, ...rest } = target;
  const render = request.format === 'messages' ? renderRelay : renderRequest;
  const rendered = render(request, rest);
  const body = Object.fromEntries(
    Object.entries(rendered.body).filter(([field]) => !UNCOUNTED_FIELDS.has(field)),
  );
  return { ...rendered, body };
}
