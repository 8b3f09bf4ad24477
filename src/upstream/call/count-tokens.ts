import type { Endpoint } from '../../catalog/catalog.ts';
import type { Credential } from '../../catalog/providers/credential.ts';
import type { RenderTarget } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { fitReasoning } from '../../dialects/fit/fit-reasoning.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, readJson } from '../../kit/json/json.ts';
import { readBeginning } from '../../net/transport/read-beginning.ts';
import type { Transport } from '../../net/transport/transport-call.ts';
import type { Authorize } from '../auth/authorize.ts';
import { destinationOf } from '../auth/destination.ts';
import { headersOf } from './headers-of.ts';
import { openCall } from './open-call.ts';

const REPLY_LIMITS = { maxBytes: 64 * 1024, maxMs: 10_000 };

/** One question to an upstream: how many tokens is this prompt? */
export interface CountCall {
  readonly request: GenerationRequest;
  readonly endpoint: Endpoint;
  readonly credential: Credential | undefined;
  /** The caller brought the credential. */
  readonly isByok?: boolean;
  readonly betas?: string;
  readonly hashUser: RenderTarget['hashUser'];
  readonly signal: AbortSignal;
}

/** The upstream's own count; undefined when it cannot count, or does not answer with a count. */
export async function countUpstreamTokens(
  call: CountCall,
  { transport, authorize }: { readonly transport: Transport; readonly authorize: Authorize },
): Promise<number | undefined> {
  const { request, endpoint, signal } = call;
  const { provider } = endpoint;
  // The simulator counts nothing.
  if (provider.dialect === 'simulator') return undefined;
  const dialect = DIALECTS[provider.dialect];
  const { countTokens } = dialect.upstream;
  const destination = destinationOf(endpoint, call.credential);
  if (countTokens === undefined || destination === undefined) return undefined;
  const { baseUrl, query, model, credential } = destination;
  const target = {
    model,
    quirks: provider.quirks,
    takesBudget: endpoint.reasoning?.takesBudget,
    alwaysThinks: endpoint.reasoning?.mandatory,
    hashUser: call.hashUser,
  };
  const fitted = fitReasoning(request, endpoint.reasoning, endpoint.maxOutputTokens);
  const rendered = countTokens.renderRequest(fitted.request, target);
  try {
    const url = `${baseUrl}${countTokens.path(model)}${query}`;
    const headers = headersOf(call, dialect, rendered);
    const { reply } = await openCall(
      {
        provider,
        credential,
        url,
        headers,
        body: rendered.body,
        timeouts: provider.timeouts,
        signal,
        isRepeatable: true,
      },
      { transport, authorize },
    );
    const text = await readBeginning(reply.chunks[Symbol.asyncIterator](), REPLY_LIMITS);
    const reading = readJson(text);
    if (reply.status !== 200 || !reading.ok || !isJsonObject(reading.value)) return undefined;
    return countTokens.readCount(reading.value);
  } catch (error) {
    // The caller gets our own count instead.
    if (signal.aborted) throw error;
    return undefined;
  }
}
