import type { GenerationRequest } from '../../ir/request.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { renderRelay } from './relay.ts';
import { renderRequest } from './render.ts';

/** What is about the answer, or about whom it is for: an upstream that only counts the prompt refuses it. */
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

/**
 * Body of the native `POST /messages/count_tokens`: a request of this format as the caller wrote it, others translated.
 * The limit of the endpoint's output does not matter to it.
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
