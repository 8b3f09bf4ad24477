/** One HTTP request to a service of the operator. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds for everything, the body included. */
  readonly totalMs: number;
  /** Milliseconds for a connection, then until the reply begins, and between its pieces; absent = `totalMs`. */
  readonly silenceMs?: number;
  /** A longer body of the reply fails the call. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ServiceReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** The service cannot be reached, or its reply is late, cut or too long. The message never holds an address. */
export class ServiceUnreachable extends Error {
  /** Code of the system (`ECONNREFUSED`), or a word for what happened (`timeout`). */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = 'ServiceUnreachable';
    this.code = code;
  }
}

/** Requests to one service over pooled connections. Rejects with ServiceUnreachable, or the signal's reason. */
export interface ServiceClient {
  call(request: ServiceRequest): Promise<ServiceReply>;
  /** Ends open requests and closes all connections. */
  close(): void;
}
