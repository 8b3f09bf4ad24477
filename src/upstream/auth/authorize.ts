import type { AwsAccessKey, GoogleServiceAccount } from '../../catalog/providers/credential.ts';
import type { Auth } from '../../catalog/providers/provider-members.ts';
import { hashBody, signAws } from '../../kit/crypto/sign-aws.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import type { Timeouts } from '../../kit/net/timeouts.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Transport } from '../../net/transport/transport-call.ts';
import type { Destination } from './destination.ts';
import { GoogleTokens } from './google-tokens.ts';

/** A call that is complete but for its authorization. */
export interface UnauthorizedCall {
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly auth: Auth;
  readonly credential: Destination['credential'];
  readonly signal: AbortSignal;
  /** The credential is a BYOK credential. */
  readonly isByok: boolean;
  readonly timeouts: Timeouts;
}

export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** Secrets derived from the credential for this call, to be redacted. */
  readonly secrets: readonly string[];
  /** True if every call with the credential gets the same object. */
  readonly isLasting?: boolean;
  /** Set if it uses a cached token: drops the token, so that the next authorization fetches one. */
  readonly forget?: (() => void) | undefined;
}

/** Rejects with TokenRefused, a TransportProblem, or the signal's reason. */
export type Authorize = (call: UnauthorizedCall) => Authorization | Promise<Authorization>;

/** The headers that carry a plain key, per way of authorizing. */
const KEY_HEADERS: Readonly<Record<Auth, (key: string) => Record<string, string>>> = {
  none: () => ({}),
  bearer: (key) => ({ authorization: `Bearer ${key}` }),
  'x-api-key': (key) => ({ 'x-api-key': key }),
  google: (key) => ({ 'x-goog-api-key': key }),
  azure: (key) => ({ 'api-key': key }),
  aws: (key) => ({ authorization: `Bearer ${key}` }),
};

/** The name by which requests to Bedrock are signed. */
const AWS_SERVICE = 'bedrock';

const NOTHING: Authorization = { headers: {}, secrets: [], isLasting: true };

type PlainKey = Extract<Destination['credential'], { kind: 'key' | 'aws-key' }>;

/**
 * The headers for a credential that is a plain key, or none; undefined for one that has to be exchanged or signed
 * with.
 */
export function plainKeyHeaders(
  auth: Auth,
  credential: Destination['credential'],
): Readonly<Record<string, string>> | undefined {
  switch (credential?.kind) {
    case undefined:
      return NOTHING.headers;
    case 'key':
    case 'aws-key':
      return authorizationByKey(auth, credential).headers;
    default:
      return undefined;
  }
}

const BY_KEY = new WeakMap<PlainKey, { readonly auth: Auth; readonly authorization: Authorization }>();

function authorizationByKey(auth: Auth, credential: PlainKey): Authorization {
  const known = BY_KEY.get(credential);
  if (known?.auth === auth) return known.authorization;
  const headers = KEY_HEADERS[auth](credential.key);
  const authorization: Authorization = { headers, secrets: [], isLasting: true };
  BY_KEY.set(credential, { auth, authorization });
  return authorization;
}

/** Makes the function that authorizes calls; it caches the tokens that it fetches. */
export function createAuthorize({ transport, clock }: { transport: Transport; clock: Clock }): Authorize {
  const tokens = new GoogleTokens(transport, clock);
  return (call) => {
    const { auth, credential } = call;
    switch (credential?.kind) {
      case undefined:
        return NOTHING;
      case 'key':
      case 'aws-key':
        return authorizationByKey(auth, credential);
      case 'google-service-account':
        return withToken(call, credential, tokens);
      case 'aws-access-key':
        return signed(call, credential, clock);
    }
  };
}

async function withToken(
  { signal, isByok, timeouts }: UnauthorizedCall,
  credential: GoogleServiceAccount,
  tokens: GoogleTokens,
): Promise<Authorization> {
  const { text, forget } = await tokens.tokenOf(credential, {
    signal,
    isGuarded: isByok,
    timeouts,
  });
  return { headers: KEY_HEADERS.bearer(text), secrets: [text], forget };
}

async function signed(
  { url, headers, body }: UnauthorizedCall,
  credential: AwsAccessKey,
  clock: Clock,
): Promise<Authorization> {
  const bodyHash = await runInTurns(hashBody(body));
  const context = { service: AWS_SERVICE, nowMs: clock.now() };
  return { headers: signAws({ method: 'POST', url, headers, bodyHash }, credential, context), secrets: [] };
}
