import type { Endpoint } from '../catalog/catalog.ts';
import type { RenderTarget, UpstreamDialect } from '../dialects/dialect.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { tokenCount } from '../ir/usage.ts';
import { isJsonObject, readJson } from '../kit/json.ts';
import { authorize } from './auth/authorize.ts';
import { lowerCased } from './call.ts';
import { readBeginning } from './read-beginning.ts';
import type { Transport } from './upstream.ts';

/** Fields that a messages upstream takes when it only counts. */
const COUNTED_FIELDS = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'];

const REPLY_LIMITS = { maxBytes: 64 * 1024, maxMs: 10_000 };

/** One question to a messages upstream: how many tokens is this prompt? */
export interface CountCall {
  readonly request: GenerationRequest;
  readonly endpoint: Endpoint;
  readonly dialect: UpstreamDialect;
  readonly transport: Transport;
  readonly hashUser: RenderTarget['hashUser'];
  readonly signal: AbortSignal;
}

/** The upstream's own count; undefined when it does not answer with one. */
export async function countUpstreamTokens(call: CountCall): Promise<number | undefined> {
  const { request, endpoint, dialect } = call;
  const { body, headers } = dialect.renderRequest(request, {
    model: endpoint.upstreamModel,
    hashUser: call.hashUser,
  });
  const counted = Object.fromEntries(
    COUNTED_FIELDS.flatMap((name) => (name in body ? [[name, body[name]]] : [])),
  );
  try {
    const reply = await call.transport.open({
      url: `${endpoint.provider.baseUrl}${dialect.path(endpoint.upstreamModel, false)}/count_tokens`,
      headers: headersOf(endpoint, headers),
      body: JSON.stringify(counted),
      timeouts: endpoint.provider.timeouts,
      signal: call.signal,
    });
    const text = await readBeginning(reply.chunks[Symbol.asyncIterator](), REPLY_LIMITS);
    const reading = readJson(text);
    if (reply.status !== 200 || !reading.ok || !isJsonObject(reading.value)) return undefined;
    return tokenCount(reading.value.input_tokens);
  } catch (error) {
    // Counting is a courtesy: whoever asked gets our own count instead.
    if (call.signal.aborted) throw error;
    return undefined;
  }
}

function headersOf(
  { provider }: Endpoint,
  dialectHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...lowerCased(dialectHeaders),
    ...lowerCased(provider.headers),
    ...authorize(provider.auth, provider.apiKey),
  };
}
