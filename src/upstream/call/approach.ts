import type { Endpoint, Provider } from '../../catalog/catalog.ts';
import { type Credential, secretsOf } from '../../catalog/providers/credential.ts';
import type { Dialect, RenderedRequest } from '../../dialects/dialect.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import { type Confidential, isSecretName } from '../../kit/secrets/redact.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { type Destination, destinationOf } from '../auth/destination.ts';
import type { UpstreamCall } from '../upstream.ts';
import type { FailureScope } from './failure.ts';
import { headersOf } from './headers-of.ts';

/** Where the simulator is addressed; the dialect's own path follows. */
const SIMULATOR_BASE = 'simulator://local';

export interface ApproachKey {
  readonly endpoint: Endpoint;
  readonly credential: Credential | undefined;
  readonly isByok: boolean;
  readonly dialect: Dialect;
}

/** Common facts of all calls of an endpoint with one credential: made once and cached. */
export class Approach {
  readonly #key: ApproachKey;
  readonly destination: Destination;
  /** The caller's BYOK credential also chose the address. */
  readonly isAddressedByCaller: boolean;
  readonly scope: FailureScope;
  #whole: Head | undefined;
  #streamed: Head | undefined;

  constructor(key: ApproachKey, destination: Destination, clock: Clock) {
    const { endpoint, credential, isByok, dialect } = key;
    const { provider } = endpoint;
    this.#key = key;
    this.destination = destination;
    this.isAddressedByCaller = isByok && destination.isNamedByCredential;
    this.scope = {
      provider,
      confidential: confidentialOf(provider, credential, destination.baseUrl),
      isByok,
      contextLength: endpoint.contextLength,
      readError: (body, headers) => dialect.upstream.readError(body, headers),
      now: () => clock.now(),
    };
  }

  isFor(key: ApproachKey): boolean {
    const own = this.#key;
    return own.credential === key.credential && own.isByok === key.isByok && own.dialect === key.dialect;
  }

  /** Address and headers of a call. Calls that are alike get the same object. */
  headOf(call: Pick<UpstreamCall, 'request' | 'endpoint' | 'betas'>, rendered: RenderedRequest): Head {
    const { stream, upstreamHeaders } = call.request;
    const kept = stream ? this.#streamed : this.#whole;
    const isAlike =
      kept?.betas === call.betas && kept?.given === rendered.headers && kept?.own === upstreamHeaders;
    if (kept !== undefined && isAlike) return kept;
    const head = this.#makeHead(call, rendered);
    if (stream) this.#streamed = head;
    else this.#whole = head;
    return head;
  }

  #makeHead(call: Pick<UpstreamCall, 'request' | 'endpoint' | 'betas'>, rendered: RenderedRequest): Head {
    const { dialect } = this.#key;
    const { baseUrl, query, model } = this.destination;
    const isSimulated = call.endpoint.provider.dialect === 'simulator';
    const base = isSimulated ? SIMULATOR_BASE : baseUrl;
    return {
      url:
        withoutEnd(base, dialect.upstream.replacedPaths) +
        dialect.upstream.path(model, call.request.stream) +
        query,
      headers: headersOf(this.isAddressedByCaller ? withoutOperatorHeaders(call) : call, dialect, rendered),
      betas: call.betas,
      given: rendered.headers,
      own: call.request.upstreamHeaders,
    };
  }
}

/** An address without the end that belongs to another interface of the provider. */
function withoutEnd(base: string, ends: readonly string[] = []): string {
  const end = ends.find((each) => base.endsWith(each));
  return end === undefined ? base : base.slice(0, -end.length);
}

/** Address and headers of a call, and what they were made from. */
interface Head {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly betas: string | undefined;
  readonly given: RenderedRequest['headers'];
  readonly own: UpstreamCall['request']['upstreamHeaders'];
}

/** The approaches that were used last, one for each endpoint. */
export class Approaches {
  readonly #clock: Clock;
  readonly #known = new WeakMap<Endpoint, Approach>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined when endpoint and credential together name no address. */
  of(key: ApproachKey): Approach | undefined {
    const known = this.#known.get(key.endpoint);
    if (known?.isFor(key)) return known;
    const destination = destinationOf(key.endpoint, key.credential);
    if (destination === undefined) return undefined;
    const approach = new Approach(key, destination, this.#clock);
    this.#known.set(key.endpoint, approach);
    return approach;
  }
}

/** The operator's headers may hold secrets: they go only to the operator's address. */
function withoutOperatorHeaders<T extends Pick<UpstreamCall, 'endpoint'>>(call: T): T {
  const { endpoint } = call;
  return { ...call, endpoint: { ...endpoint, provider: { ...endpoint.provider, headers: {} } } };
}

/** An operator's header may hold a secret under any name; short values (`eu`, `2024-01`) are none. */
const MIN_HEADER_SECRET_CHARACTERS = 8;

/** The word before the secret in a header. */
const SCHEME = /^(?:bearer|basic|token)\s+/i;

/** Secrets of a provider that messages must not reveal: the credential, values of the operator's headers, the host. */
function confidentialOf(
  provider: Provider,
  credential: Credential | undefined,
  baseUrl: string,
): Confidential {
  const own = credential === undefined ? [] : secretsOf(credential);
  const headers = Object.entries(provider.headers);
  const ofHeaders = headers
    .filter(([name, value]) => isSecretName(name) || value.length >= MIN_HEADER_SECRET_CHARACTERS)
    .map(([, value]) => value);
  const named = headers.filter(([name]) => isSecretName(name)).map(([, value]) => value.replace(SCHEME, ''));
  return {
    secrets: [...own, ...ofHeaders],
    keys: [...own, ...named],
    host: provider.dialect === 'simulator' ? undefined : urlOf(baseUrl)?.host,
  };
}
