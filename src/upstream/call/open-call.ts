import type { Provider } from '../../catalog/catalog.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { writeJson } from '../../kit/json/stringify-sliced.ts';
import { andThen } from '../../kit/loop/and-then.ts';
import type { Timeouts } from '../../kit/net/timeouts.ts';
import { mayCallAgain } from '../../net/transport/may-call-again.ts';
import type { Transport, TransportReply } from '../../net/transport/transport-call.ts';
import type { Authorization, Authorize, UnauthorizedCall } from '../auth/authorize.ts';
import type { Destination } from '../auth/destination.ts';

/** A call that only lacks its authorization. */
export interface UnsignedCall {
  readonly provider: Provider;
  readonly credential: Destination['credential'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly exactNumbers?: ExactNumbers | undefined;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal;
  /** A BYOK credential is used; `isAddressed`: it also chose `url`. */
  readonly own?: { readonly isAddressed: boolean } | undefined;
  /** Costs nothing, so that the transport may send it twice. */
  readonly isRepeatable?: boolean;
}

export interface OpenedCall {
  readonly reply: TransportReply;
  /** Secrets made for this call, to be redacted from what the upstream answers. */
  readonly secrets: readonly string[];
}

export interface CallSender {
  readonly transport: Transport;
  readonly authorize: Authorize;
}

/** Writes, authorizes and sends a call; sends it again, once, with a fresh token if `mayCallAgain` allows it. */
export function openCall(call: UnsignedCall, sender: CallSender): Promise<OpenedCall> | OpenedCall {
  return andThen<string | Uint8Array, OpenedCall>(writeJson(call.body, call.exactNumbers), (body) =>
    andThen(sender.authorize(unauthorized(call, body)), (authorization) =>
      send(call, body, authorization, sender).then((reply) => {
        const { forget, secrets } = authorization;
        const ended = { upstreamStatus: reply.status, hasCachedToken: forget !== undefined };
        if (!mayCallAgain(ended)) return { reply, secrets };
        forget?.();
        return callAgain(call, body, { reply, secrets }, sender);
      }),
    ),
  );
}

async function callAgain(
  call: UnsignedCall,
  body: string | Uint8Array,
  { reply, secrets }: OpenedCall,
  sender: CallSender,
): Promise<OpenedCall> {
  await reply.chunks[Symbol.asyncIterator]().return?.();
  const fresh = await sender.authorize(unauthorized(call, body));
  return { reply: await send(call, body, fresh, sender), secrets: [...secrets, ...fresh.secrets] };
}

function unauthorized(call: UnsignedCall, body: string | Uint8Array): UnauthorizedCall {
  const { url, headers, provider, credential, signal, own } = call;
  const { auth, timeouts } = provider;
  return { url, headers, body, auth, credential, signal, isByok: own !== undefined, timeouts };
}

function send(
  { url, headers, timeouts, signal, own, isRepeatable }: UnsignedCall,
  body: string | Uint8Array,
  authorization: Authorization,
  { transport }: CallSender,
): Promise<TransportReply> {
  return transport.open({
    url,
    headers: authorized(headers, authorization),
    body,
    timeouts,
    signal,
    isGuarded: own?.isAddressed ?? false,
    isRepeatable: isRepeatable ?? false,
  });
}

type Headers = UnsignedCall['headers'];

/** Headers with a lasting authorization: calls that are alike have the same object. */
const AUTHORIZED = new WeakMap<Headers, { readonly by: Authorization; readonly headers: Headers }>();

function authorized(headers: Headers, by: Authorization): Headers {
  if (by.isLasting !== true) return { ...headers, ...by.headers };
  const known = AUTHORIZED.get(headers);
  if (known?.by === by) return known.headers;
  const all = { ...headers, ...by.headers };
  AUTHORIZED.set(headers, { by, headers: all });
  return all;
}
