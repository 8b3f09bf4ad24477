import type { Endpoint } from '../catalog/catalog.ts';
import type { RenderTarget } from '../dialects/dialect.ts';
import { messagesUpstream } from '../dialects/messages/messages.ts';
import { renderCountTokens } from '../dialects/messages/render-count-tokens.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { tokenCount } from '../ir/usage.ts';
import { isJsonObject, readJson } from '../kit/json.ts';
import { headersOf } from './call.ts';
import { readBeginning } from './read-beginning.ts';
import type { Transport } from './upstream.ts';

const REPLY_LIMITS = { maxBytes: 64 * 1024, maxMs: 10_000 };

/** One question to a messages upstream: how many tokens is this prompt? */
export interface CountCall {
  readonly request: GenerationRequest;
  readonly endpoint: Endpoint;
  /** Betas that the caller asked for. */
  readonly betas?: string;
  readonly hashUser: RenderTarget['hashUser'];
  readonly signal: AbortSignal;
}

/** The upstream's own count; undefined when it cannot count, or does not answer with a count. */
export async function countUpstreamTokens(
  call: CountCall,
  transport: Transport,
): Promise<number | undefined> {
  const { request, endpoint, signal } = call;
  const { provider, upstreamModel } = endpoint;
  if (provider.dialect !== messagesUpstream.name) return undefined;
  const rendered = renderCountTokens(request, { model: upstreamModel, hashUser: call.hashUser });
  try {
    const reply = await transport.open({
      url: `${provider.baseUrl}${messagesUpstream.path(upstreamModel, false)}/count_tokens`,
      headers: headersOf({ ...call, credential: provider.apiKey }, messagesUpstream.name, rendered),
      body: JSON.stringify(rendered.body),
      timeouts: provider.timeouts,
      signal,
    });
    const text = await readBeginning(reply.chunks[Symbol.asyncIterator](), REPLY_LIMITS);
    const reading = readJson(text);
    if (reply.status !== 200 || !reading.ok || !isJsonObject(reading.value)) return undefined;
    return tokenCount(reading.value.input_tokens);
  } catch (error) {
    // Counting is a courtesy: whoever asked gets our own count instead.
    if (signal.aborted) throw error;
    return undefined;
  }
}
