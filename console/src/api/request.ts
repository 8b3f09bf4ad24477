import { noteAnswer } from './reachability.ts';

/** The interface, which every gateway serves below this path, whatever its base path is. */
const API = '/v1';

/** Shows that a request comes from the console: the cookie of the session alone proves nothing. */
export const SESSION_HEADERS = { 'X-Console-Session': '1' };

/** A refusal of the gateway, in its own words. */
export class ApiError extends Error {
  readonly status: number;
  /** Names the request in the gateway's log. */
  readonly requestId: string | null;
  /** Seconds after which the gateway wants to be asked again; null = it did not say. */
  readonly retryAfterSeconds: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    message: string,
    details: Partial<Omit<ApiError, keyof Error | 'status'>> = {},
  ) {
    super(message);
    this.status = status;
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.metadata = details.metadata ?? {};
  }
}

/** No answer came: the gateway restarts, or the network is away. */
export class Unreachable extends Error {}

/** Members that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a request has besides its path. */
export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  /** Sent as JSON; a form as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request of this session and returns the response. Throws ApiError for every refusal. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, headers, signal } = options;
  const isForm = body instanceof FormData;
  const init: RequestInit = {
    method,
    headers: {
      ...SESSION_HEADERS,
      ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    credentials: 'same-origin',
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  };
  const response = await reach(addressOf(path, options.query), init);
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** The same, for a JSON answer. */
export async function ask<T>(path: string, options?: RequestOptions): Promise<T> {
  return (await (await send(path, options)).json()) as T;
}

/** The path of a request with its query, from the root of the server. */
export function addressOf(path: string, query: RequestOptions['query'] = {}): string {
  const given = Object.entries(query).filter((entry) => entry[1] !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${API}${path}${search === '' ? '' : `?${search}`}`;
}

/** Sends a request to any path of the gateway. Throws Unreachable if no answer comes. */
export async function reach(address: string, init: RequestInit = {}): Promise<Response> {
  try {
    const response = await fetch(address, init);
    noteAnswer(true);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    noteAnswer(false);
    throw new Unreachable('The gateway does not answer.', { cause: error });
  }
}

interface Envelope {
  readonly error?: { readonly message?: unknown; readonly metadata?: unknown };
}

async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  return refusalFrom(response.status, text, (name) => response.headers.get(name));
}

/** The refusal that a response is, whatever sent the request. */
export function refusalFrom(status: number, text: string, header: (name: string) => string | null): ApiError {
  const { message, metadata } = envelopeOf(text).error ?? {};
  const retryAfter = Number(header('retry-after') ?? Number.NaN);
  return new ApiError(status, typeof message === 'string' ? message : `The gateway answered ${status}.`, {
    requestId: header('x-request-id'),
    retryAfterSeconds: Number.isNaN(retryAfter) ? null : retryAfter,
    metadata: typeof metadata === 'object' && metadata !== null ? { ...metadata } : {},
  });
}

function envelopeOf(text: string): Envelope {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    // A proxy in between answers with a page of its own.
    return {};
  }
}
