import { setTimeout as delay } from 'node:timers/promises';
import { type AwsSigningKey, hashBody, signAws } from '../../kit/crypto/sign-aws.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import {
  type ServiceClient,
  type ServiceReply,
  type ServiceRequest,
  ServiceUnreachable,
} from '../../kit/net/service-client.ts';
import { OutageLog } from '../outage-log.ts';
import {
  type ListedObject,
  type ObjectParts,
  type ObjectRange,
  type ObjectStorage,
  ObjectStorageUnavailable,
} from './object-storage.ts';
import { completionOf, elementIn, listPageOf } from './s3-replies.ts';

export interface S3Place {
  /** Scheme, host and port that requests go to, with the bucket in the host unless `bucketPath` has it. */
  readonly origin: string;
  /** `/bucket` if the bucket is part of the path, otherwise empty. */
  readonly bucketPath: string;
  /** Begins every key; empty, or ends with a slash. */
  readonly prefix: string;
}

export interface S3StorageOptions {
  readonly service: ServiceClient;
  readonly place: S3Place;
  readonly signingKey: AwsSigningKey;
  now(): number;
  /** Logs that the bucket cannot be used, and that it can be again. */
  readonly warn?: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Time before the first repetition, milliseconds; the next are twice as long each. */
  readonly pauseMs?: number;
  /** How long each attempt of a request waits for the answer to begin, milliseconds. */
  readonly attemptsMs?: readonly number[];
}

const PAUSE_MS = 100;

/**
 * Attempts of each request, by the milliseconds for which the storage may be silent: together about ten seconds. All
 * requests can be repeated without harm. Later attempts wait longer, for a storage that is slow rather than away.
 */
const ATTEMPTS_MS = [1_000, 2_000, 3_000, 4_000];

/** More time for the body of a request, which has to be sent before the storage answers: 512 KiB a second. */
const SENT_BYTES_PER_MS = 512;

/** Milliseconds of silence while the storage joins the parts of an upload. */
const JOINING_MS = 15_000;

/** An attempt that would begin later than this after the first one is not made, milliseconds. */
const REPEAT_WITHIN_MS = 8_000;

/** Milliseconds for one attempt of a request, in which the storage is never silent for too long. */
const REQUEST_MS = 15_000;

/** Bytes of a reply that is not content: a page of a list has a thousand objects. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;

/** Statuses after which a repetition may help: time-outs, too many requests, failures of the server. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** The access key, its signature or its rights are wrong. */
const FORBIDDEN: ReadonlySet<number> = new Set([401, 403]);

const NOT_FOUND = 404;
const RANGE_BEYOND_END = 416;

export class S3Storage implements ObjectStorage {
  readonly #options: S3StorageOptions;
  readonly #outage: OutageLog;
  #isClosed = false;

  constructor(options: S3StorageOptions) {
    this.#options = options;
    const { warn = () => {}, place } = options;
    this.#outage = new OutageLog(warn, {
      begins: 'the bucket cannot be used; uploads, and generations that name a stored file, get 503',
      ends: 'the bucket can be used again',
      place: { bucket: place.origin + place.bucketPath },
      cause: causeOf,
    });
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#done({ method: 'PUT', key, body: bytes });
  }

  async read(key: string, from: number, length: number, version?: string): Promise<ObjectRange | undefined> {
    const headers = {
      range: `bytes=${from}-${from + length - 1}`,
      ...(version !== undefined && { 'if-match': version }),
    };
    const reply = await this.#send({ method: 'GET', key, headers, maxBytes: length + 1024 });
    const { status, headers: replied, bytes } = reply;
    if (status === NOT_FOUND) return undefined;
    const tag = replied.etag ?? '';
    // The range of an empty object is beyond its end.
    if (status === RANGE_BEYOND_END && from === 0)
      return { bytes: Buffer.alloc(0), totalBytes: 0, version: tag };
    if (status === 200 && from === 0 && bytes.length === 0) return { bytes, totalBytes: 0, version: tag };
    // Content without a range says nothing of how much of the object it is, and would be taken for all of it.
    if (status === 200) throw otherRange();
    const total = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(replied['content-range'] ?? '');
    if (status !== 206 || total === null) throw refusalOf(reply);
    const [, first, last, totalBytes] = total.map(Number);
    if (first !== from || bytes.length !== (last ?? 0) - from + 1) throw otherRange();
    return { bytes, totalBytes: totalBytes ?? 0, version: tag };
  }

  async remove(key: string): Promise<void> {
    const reply = await this.#send({ method: 'DELETE', key });
    if (reply.status !== NOT_FOUND && !isOk(reply)) throw refusalOf(reply);
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    const { place } = this.#options;
    let next: string | undefined;
    do {
      const query = {
        'list-type': '2',
        prefix: place.prefix + prefix,
        ...(next !== undefined && { 'continuation-token': next }),
      };
      const page = listPageOf((await this.#done({ method: 'GET', key: null, query })).bytes.toString());
      for (const object of page.objects) yield { ...object, key: object.key.slice(place.prefix.length) };
      next = page.next;
    } while (next !== undefined);
  }

  async beginParts(key: string): Promise<ObjectParts> {
    const begun = await this.#done({ method: 'POST', key, query: { uploads: '' } });
    const uploadId = elementIn(begun.bytes.toString(), 'UploadId');
    if (uploadId === undefined) {
      throw new ObjectStorageUnavailable('the object storage began no upload in parts', 'upload');
    }
    const tags: string[] = [];
    let totalBytes = 0;
    return {
      add: async (bytes) => {
        const query = { partNumber: String(tags.length + 1), uploadId };
        const { headers } = await this.#done({ method: 'PUT', key, query, body: bytes });
        tags.push(headers.etag ?? '');
        totalBytes += bytes.length;
      },
      complete: async () => {
        const body = Buffer.from(completionOf(tags));
        const call = { method: 'POST', key, query: { uploadId }, body, silenceMs: JOINING_MS } as const;
        const reply = await this.#send(call);
        // The answer to an earlier attempt was lost, and the object is complete.
        if (codeIn(reply) === 'NoSuchUpload' && (await this.#hasObject(key, totalBytes))) return;
        // A failure after the beginning of the reply has status 200 too.
        if (!isOk(reply) || elementIn(reply.bytes.toString(), 'ETag') === undefined) throw refusalOf(reply);
      },
      abort: async () => {
        const reply = await this.#send({ method: 'DELETE', key, query: { uploadId } });
        if (reply.status !== NOT_FOUND && !isOk(reply)) throw refusalOf(reply);
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#options.service.close();
    this.#outage.close();
  }

  async #hasObject(key: string, totalBytes: number): Promise<boolean> {
    return (await this.read(key, 0, 1))?.totalBytes === totalBytes;
  }

  /** Sends a request that must succeed. */
  async #done(call: S3Call): Promise<ServiceReply> {
    const reply = await this.#send(call);
    if (!isOk(reply)) throw refusalOf(reply);
    return reply;
  }

  /** Sends a request, and logs when the storage begins or ceases to fail. */
  async #send(call: S3Call): Promise<ServiceReply> {
    try {
      const reply = await this.#repeated(call);
      if (isFailure(reply)) throw refusalOf(reply);
      this.#outage.worked();
      return reply;
    } catch (error) {
      if (error instanceof ObjectStorageUnavailable && !this.#isClosed) this.#outage.failed(error);
      throw error;
    }
  }

  /** Sends a request several times if that may help. */
  async #repeated(call: S3Call): Promise<ServiceReply> {
    const { pauseMs = PAUSE_MS, attemptsMs = ATTEMPTS_MS } = this.#options;
    const body = call.body ?? Buffer.alloc(0);
    const bodyHash = await runInTurns(hashBody(body));
    const repeatUntil = performance.now() + REPEAT_WITHIN_MS;
    for (let attempt = 1; ; attempt++) {
      const silenceMs = (attemptsMs[attempt - 1] ?? 0) + Math.ceil(body.length / SENT_BYTES_PER_MS);
      const reply = await this.#attempt({ silenceMs, ...call }, body, bodyHash).catch((error: unknown) => {
        if (!(error instanceof ServiceUnreachable)) throw error;
        return error;
      });
      const isFinal = reply instanceof ServiceUnreachable ? false : !TRANSIENT.has(reply.status);
      if (!isFinal && attempt < attemptsMs.length && performance.now() < repeatUntil) {
        await delay(pauseMs * 2 ** (attempt - 1));
        continue;
      }
      if (!(reply instanceof ServiceUnreachable)) return reply;
      throw new ObjectStorageUnavailable(`the object storage does not answer: ${reply.message}`, reply.code);
    }
  }

  #attempt(call: S3Call, body: Uint8Array, bodyHash: string): Promise<ServiceReply> {
    const { method, key, query = {}, headers = {}, silenceMs = REQUEST_MS, maxBytes } = call;
    const { service, place, signingKey, now } = this.#options;
    const { origin, bucketPath, prefix } = place;
    const target = key === null ? `${bucketPath}/` : `${bucketPath}/${prefix}${key}`;
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const path = search.length === 0 ? target : `${target}?${search.join('&')}`;
    const signed = { ...headers, 'x-amz-content-sha256': bodyHash };
    const signature = signAws({ method, url: origin + path, headers: signed, bodyHash }, signingKey, {
      service: 's3',
      nowMs: now(),
    });
    return service.call({
      method,
      path,
      headers: { ...signed, ...signature },
      body,
      totalMs: REQUEST_MS,
      silenceMs,
      maxBytes: maxBytes ?? MAX_REPLY_BYTES,
    });
  }
}

interface S3Call {
  readonly method: ServiceRequest['method'];
  /** Null for the bucket itself. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Milliseconds for which the storage may be silent; absent = as the attempt allows. */
  readonly silenceMs?: number;
  readonly maxBytes?: number;
}

function isOk({ status }: ServiceReply): boolean {
  return status >= 200 && status < 300;
}

function otherRange(): ObjectStorageUnavailable {
  return new ObjectStorageUnavailable('the object storage sent another range than it was asked for', 'range');
}

/** Whether the storage as a whole fails or refuses us, whatever the object. */
function isFailure(reply: ServiceReply): boolean {
  if (reply.status === NOT_FOUND) return codeIn(reply) === 'NoSuchBucket';
  return FORBIDDEN.has(reply.status) || TRANSIENT.has(reply.status);
}

/** Names the code of the storage, never its message: that may repeat the request with its signature. */
function refusalOf(reply: ServiceReply): ObjectStorageUnavailable {
  const { status } = reply;
  const code = codeIn(reply) ?? `status-${status}`;
  const answer = { status, isRefusal: !TRANSIENT.has(status) && !isOk(reply) };
  return new ObjectStorageUnavailable(`the object storage answered ${status} ${code}`, code, answer);
}

function codeIn({ bytes }: ServiceReply): string | undefined {
  return elementIn(bytes.toString('utf8', 0, 4096), 'Code');
}

function causeOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof ObjectStorageUnavailable)) return { error };
  const { status, code } = error;
  return { ...(status !== undefined && { status }), errno: code };
}
