import type { Dialect, RenderedRequest } from '../../dialects/dialect.ts';
import { BETA_HEADER } from '../../dialects/shared/requests/betas.ts';
import type { UpstreamCall } from '../upstream.ts';

/**
 * Headers of a call without authorization. Later ones win: ours, the dialect's, the request's, the caller's betas, the
 * operator's.
 */
export function headersOf(
  call: Pick<UpstreamCall, 'request' | 'endpoint' | 'betas'>,
  { upstream, facts }: Pick<Dialect, 'upstream' | 'facts'>,
  rendered: RenderedRequest,
): Record<string, string> {
  const { provider } = call.endpoint;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Some servers in front of providers turn away requests without one.
    'user-agent': 'signalbox',
    accept: (call.request.stream ? upstream.streamType : undefined) ?? 'application/json',
  };
  addLowerCased(headers, rendered.headers);
  if (call.request.upstreamHeaders !== undefined) addLowerCased(headers, call.request.upstreamHeaders);
  if (facts?.betaCarrier === 'header' && call.betas !== undefined) {
    const own = headers[BETA_HEADER];
    headers[BETA_HEADER] = own === undefined ? call.betas : `${own},${call.betas}`;
  }
  addLowerCased(headers, provider.headers);
  return headers;
}

/** Adds headers under lower-case names, so that two spellings of one are one. */
function addLowerCased(headers: Record<string, string>, more: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(more)) headers[name.toLowerCase()] = value;
}
