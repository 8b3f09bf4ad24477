import { createHash, createHmac } from 'node:crypto';
import type { Sliced } from '../loop/turns.ts';

export interface AwsSigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

export interface SignedRequest {
  readonly method: string;
  /** Percent-encoded as it is sent. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, hex. */
  readonly bodyHash: string;
}

export interface SigningContext {
  readonly service: string;
  readonly nowMs: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The headers that sign a request (AWS Signature Version 4). They belong to exactly this address, body and second. */
export function signAws(
  request: SignedRequest,
  credential: AwsSigningKey,
  { service, nowMs }: SigningContext,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const scope = `${date}/${credential.region}/${service}/aws4_request`;
  const added: Record<string, string> = {
    'x-amz-date': time,
    ...(credential.sessionToken !== undefined && { 'x-amz-security-token': credential.sessionToken }),
  };
  const url = new URL(request.url);
  const headers = signedHeaders({ ...request.headers, ...added, host: url.host });
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    request.bodyHash,
  ].join('\n');
  const toSign = [ALGORITHM, time, scope, sha256(canonical)].join('\n');
  const signature = hmac(signingKey(credential, date, service), toSign).toString('hex');
  const authorization = `${ALGORITHM} Credential=${credential.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...added, authorization };
}

const SLICE_BYTES = 512 * 1024;

/** SHA-256 of a body, hex, in slices. */
export function* hashBody(body: string | Uint8Array): Sliced<string> {
  const hash = createHash('sha256');
  if (typeof body === 'string') return hash.update(body).digest('hex');
  for (let start = 0; start < body.length; start += SLICE_BYTES) {
    hash.update(body.subarray(start, start + SLICE_BYTES));
    if (start + SLICE_BYTES < body.length) yield;
  }
  return hash.digest('hex');
}

/** Headers that proxies do not change, in order; only these are signed. */
function signedHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .filter(([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
    .map(([name, value]): [string, string] => [name, value.trim().replace(/ +/g, ' ')])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The path with every segment, which is encoded already, encoded once more. S3 encodes only once: its paths must be of
 * letters, digits and `-._~`, which no encoding changes.
 */
function canonicalPath(path: string): string {
  return path.split('/').map(encode).join('/');
}

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

/** Percent-encoding of everything but letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function signingKey({ secretAccessKey, region }: AwsSigningKey, date: string, service: string): Buffer {
  let key: string | Buffer = `AWS4${secretAccessKey}`;
  for (const part of [date, region, service, 'aws4_request']) key = hmac(key, part);
  return key as Buffer;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
