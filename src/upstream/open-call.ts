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
  { provider, credential, url, headers, body: given, signal, own }: UnsignedCall,
  { transport, authorize }: { readonly transport: Transport; readonly authorize: Authorize },
): Promise<{ readonly reply: TransportReply; readonly secrets: readonly string[] }> {
  const { auth, timeouts } = provider;
  const body = await writeBody(given);
  const isOwnCredential = own !== undefined;
  const attempt = async () => {
    const authorization = await authorize({
      url,
      headers,
      body,
      auth,
      credential,
      signal,
      isOwnCredential,
      timeouts,
    });
    const reply = await transport.open({
      url,
      headers: { ...headers, ...authorization.headers },
      body,
      timeouts,
      signal,
      isGuarded: own?.isAddressed ?? false,
    });
    return { reply, authorization };
  };
  const { reply, authorization } = await attempt();
  const { forget, secrets } = authorization;
  if (reply.status !== UNAUTHORIZED || forget === undefined) return { reply, secrets };
  forget();
  await reply.chunks[Symbol.asyncIterator]().return?.();
  const again = await attempt();
  return { reply: again.reply, secrets: [...secrets, ...again.authorization.secrets] };
}
