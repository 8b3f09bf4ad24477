import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AwsSigningKey, signAws } from '../../../src/kit/crypto/sign-aws.ts';

/** What the server does to the next requests besides answering them. */
export type S3Trouble =
  /** Answers 503 SlowDown. */
  | 'slow-down'
  /** Answers 403 AccessDenied. */
  | 'denied'
  /** Closes the connection without an answer. */
  | 'reset'
  /** Closes the connection in the middle of the answer. */
  | 'truncate'
  /** Never answers. */
  | 'stall'
  /** Does what was asked, and closes the connection without an answer. */
  | 'lose-reply'
  /** Answers 200, without a range, and with half of the content that was asked for. */
  | 'ignore-range';

/** A server that speaks as much of S3 as the gateway uses, strictly: it checks signatures, hashes and parts. */
export interface FakeS3 {
  readonly origin: string;
  readonly bucket: string;
  readonly signingKey: AwsSigningKey;
  /** Objects by key, prefix included. */
  readonly objects: Map<string, { readonly bytes: Buffer; readonly storedAt: Date }>;
  /** Unfinished uploads in parts. */
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>;
  /** Requests so far, such as `PUT key?partNumber`. */
  readonly requests: string[];
  /** The most bytes of a body so far. */
  readonly largestBody: () => number;
  /** Trouble for so many requests from now on. */
  trouble(kind: S3Trouble, requests?: number): void;
  /** Trouble for the next request that is meant, by its line in `requests`. */
  troubleAt(kind: S3Trouble, isMeant: (line: string) => boolean): void;
  close(): Promise<void>;
}

/** Headers that the signing of a request adds itself. */
const SIGNED_ANYWAY: ReadonlySet<string> = new Set(['host', 'x-amz-content-sha256', 'x-amz-date']);

/** The least bytes of a part that is not the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
const PAGE_OBJECTS = 3;

export async function openFakeS3(): Promise<FakeS3> {
  const signingKey: AwsSigningKey = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'canary-of-the-object-storage',
    region: 'eu-central-1',
  };
  const objects: FakeS3['objects'] = new Map();
  const uploads: FakeS3['uploads'] = new Map();
  const requests: string[] = [];
  let largest = 0;
  let pending:
    | { readonly kind: S3Trouble; left: number; readonly isMeant: (line: string) => boolean }
    | undefined;
  let uploadNumber = 0;
  const bucket = 'files-of-tests';

  const nextTrouble = (line: string) => {
    if (pending === undefined || pending.left === 0 || !pending.isMeant(line)) return undefined;
    pending.left -= 1;
    return pending.kind;
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    largest = Math.max(largest, body.length);
    const url = new URL(request.url ?? '/', origin());
    const key = url.pathname.slice(`/${bucket}/`.length);
    const names = [...url.searchParams.keys()].join('&');
    const line = `${request.method} ${key}${names === '' ? '' : `?${names}`}`;
    requests.push(line);
    const kind = nextTrouble(line);
    if (kind === 'stall') return;
    if (kind === 'reset') return void response.destroy();
    if (kind === 'slow-down') return refuse(response, 503, 'SlowDown');
    if (kind === 'denied') return refuse(response, 403, 'AccessDenied');
    const problem = signatureProblem(request, url, body);
    if (problem !== undefined) return refuse(response, 403, problem);
    if (!url.pathname.startsWith(`/${bucket}/`)) return refuse(response, 404, 'NoSuchBucket');
    if (kind === 'lose-reply') {
      serve(request, url, key, body);
      return void response.destroy();
    }
    const { status, headers = {}, content = '' } = serve(request, url, key, body);
    const bytes = Buffer.from(content);
    if (kind === 'ignore-range' && status === 206) {
      return void response.writeHead(200).end(bytes.subarray(0, bytes.length / 2));
    }
    response.writeHead(status, { ...headers, 'content-length': bytes.length });
    if (kind === 'truncate') {
      response.write(bytes.subarray(0, bytes.length / 2));
      setTimeout(() => response.destroy(), 20);
    } else response.end(bytes);
  }

  interface Reply {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly content?: string | Uint8Array;
  }

  function serve(request: IncomingMessage, url: URL, key: string, body: Buffer): Reply {
    const { searchParams } = url;
    const upload = uploads.get(searchParams.get('uploadId') ?? '');
    switch (request.method) {
      case 'GET':
        return key === '' ? list(searchParams) : read(request, key);
      case 'PUT': {
        if (!searchParams.has('uploadId')) {
          objects.set(key, { bytes: body, storedAt: new Date() });
          return { status: 200, headers: { etag: tagOf(body) } };
        }
        if (upload === undefined) return error(404, 'NoSuchUpload');
        upload.parts.set(Number(searchParams.get('partNumber')), body);
        return { status: 200, headers: { etag: tagOf(body) } };
      }
      case 'POST': {
        if (searchParams.has('uploads')) {
          const id = `upload-${++uploadNumber}`;
          uploads.set(id, { key, parts: new Map() });
          return { status: 200, content: `<Result><UploadId>${id}</UploadId></Result>` };
        }
        return complete(searchParams.get('uploadId') ?? '', key, body.toString());
      }
      default:
        if (searchParams.has('uploadId')) uploads.delete(searchParams.get('uploadId') ?? '');
        else objects.delete(key);
        return { status: 204 };
    }
  }

  function read(request: IncomingMessage, key: string): Reply {
    const object = objects.get(key);
    if (object === undefined) return error(404, 'NoSuchKey');
    const etag = tagOf(object.bytes);
    const wanted = request.headers['if-match'];
    if (wanted !== undefined && wanted !== etag) return error(412, 'PreconditionFailed');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers.range)) ?? [];
    const [from, to] = [Number(first), Math.min(Number(last), object.bytes.length - 1)];
    if (from > to) return error(416, 'InvalidRange');
    return {
      status: 206,
      headers: { etag, 'content-range': `bytes ${from}-${to}/${object.bytes.length}` },
      content: object.bytes.subarray(from, to + 1),
    };
  }

  function list(parameters: URLSearchParams): Reply {
    const prefix = parameters.get('prefix') ?? '';
    const after = parameters.get('continuation-token') ?? '';
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, PAGE_OBJECTS);
    const contents = page.map((key) => {
      const { bytes, storedAt } = objects.get(key) ?? { bytes: Buffer.alloc(0), storedAt: new Date() };
      return `<Contents><Key>${key}</Key><LastModified>${storedAt.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    const isCut = keys.length > page.length;
    const next = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return {
      status: 200,
      content: `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    };
  }

  function complete(id: string, key: string, xml: string): Reply {
    const upload = uploads.get(id);
    if (upload === undefined || upload.key !== key) return error(404, 'NoSuchUpload');
    const listed = [...xml.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
    const parts = listed.map(([, number]) => upload.parts.get(Number(number)) ?? Buffer.alloc(0));
    const hasTags = listed.every(([, , tag], index) =>
      tag?.includes(hashOf(parts[index] ?? Buffer.alloc(0))),
    );
    if (parts.length === 0 || !hasTags) return error(400, 'InvalidPart');
    if (parts.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES)) return error(400, 'EntityTooSmall');
    const bytes = Buffer.concat(parts);
    objects.set(key, { bytes, storedAt: new Date() });
    uploads.delete(id);
    return { status: 200, content: `<Result><ETag>${hashOf(bytes)}</ETag></Result>` };
  }

  function error(status: number, code: string): Reply {
    return { status, content: `<Error><Code>${code}</Code><Message>canary</Message></Error>` };
  }

  function refuse(response: ServerResponse, status: number, code: string): void {
    response.writeHead(status).end(error(status, code).content);
  }

  /** Signs the request again, by its own headers, and compares. */
  function signatureProblem({ method = '', headers }: IncomingMessage, url: URL, body: Buffer) {
    const hash = String(headers['x-amz-content-sha256']);
    if (hash !== hashOf(body)) return 'XAmzContentSHA256Mismatch';
    const time = String(headers['x-amz-date']);
    const nowMs = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    const [, names = ''] = /SignedHeaders=([^,]+)/.exec(String(headers.authorization)) ?? [];
    const signed = names.split(';').filter((name) => !SIGNED_ANYWAY.has(name));
    const given = Object.fromEntries(signed.map((name) => [name, String(headers[name])]));
    const expected = signAws(
      { method, url: url.href, headers: { ...given, 'x-amz-content-sha256': hash }, bodyHash: hash },
      signingKey,
      { service: 's3', nowMs },
    );
    return headers.authorization === expected.authorization ? undefined : 'SignatureDoesNotMatch';
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: origin(),
    bucket,
    signingKey,
    objects,
    uploads,
    requests,
    largestBody: () => largest,
    trouble(kind, count = 1) {
      pending = { kind, left: count, isMeant: () => true };
    },
    troubleAt(kind, isMeant) {
      pending = { kind, left: 1, isMeant };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function tagOf(bytes: Uint8Array): string {
  return `"${hashOf(bytes)}"`;
}
