import type { Provider } from '../catalog/catalog.ts';
import type { JsonObject } from '../kit/json.ts';
import type { Authorization, Authorize } from './auth/authorize.ts';
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
  /** The credential is the caller's own; `isAddressed`: it also chose `url`. */
  readonly own?: { readonly isAddressed: boolean } | undefined;
}

/** Status by which an upstream says that it does not take a credential. */
const UNAUTHORIZED = 401;

/**
 * Writes, authorizes and sends a call; once more where the authorization was kept from an earlier call and is refused now.
 * `secrets`: what was made on the way and nobody may see.
 */
export async function openCall(
  call: UnsignedCall,
  { transport, authorize }: { readonly transport: Transport; readonly authorize: Authorize },
): Promise<{ readonly reply: TransportReply; readonly secrets: readonly string[] }> {
  const { provider, credential, url, headers, signal, own } = call;
  const { auth, timeouts } = provider;
  const written = writeBody(call.body);
  const body = written instanceof Promise ? await written : written;
  const isOwnCredential = own !== undefined;
  const isGuarded = own?.isAddressed ?? false;
  const unauthorized = { url, headers, body, auth, credential, signal, isOwnCredential, timeouts };
  const sendWith = (authorization: Authorization) =>
    transport.open({
      url,
      headers: { ...headers, ...authorization.headers },
      body,
      timeouts,
      signal,
      isGuarded,
    });
  const authorizing = authorize(unauthorized);
  const authorization = authorizing instanceof Promise ? await authorizing : authorizing;
  const { forget, secrets } = authorization;
  const reply = await sendWith(authorization);
  if (reply.status !== UNAUTHORIZED || forget === undefined) return { reply, secrets };
  forget();
  await reply.chunks[Symbol.asyncIterator]().return?.();
  const fresh = await authorize(unauthorized);
  return { reply: await sendWith(fresh), secrets: [...secrets, ...fresh.secrets] };
}
