import type { Provider } from '../catalog/catalog.ts';
import type { JsonObject } from '../kit/json.ts';
import type { Authorize } from './auth/authorize.ts';
import type { Destination } from './auth/destination.ts';
import type { Transport, TransportReply } from './upstream.ts';
import { writeBody } from './write-body.ts';

/** A call that only lacks its authorization. */
export interface UnsignedCall {
  readonly provider: Provider;
  readonly credential: Destination['credential'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly signal: AbortSignal;
}

/** Writes, authorizes and sends a call. `secrets`: what was made on the way and nobody may see. */
export async function openCall(
  { provider, credential, url, headers, body: given, signal }: UnsignedCall,
  { transport, authorize }: { readonly transport: Transport; readonly authorize: Authorize },
): Promise<{ readonly reply: TransportReply; readonly secrets: readonly string[] }> {
  const { auth, timeouts } = provider;
  const body = await writeBody(given);
  const authorization = await authorize({ url, headers, body, auth, credential, signal });
  const reply = await transport.open({
    url,
    headers: { ...headers, ...authorization.headers },
    body,
    timeouts,
    signal,
  });
  return { reply, secrets: authorization.secrets };
}
