import { hashBody, signAws } from '../kit/crypto/sign-aws.ts';
import { runInTurns } from '../kit/loop/turns.ts';
import type { ObjectTarget } from './destination-target.ts';

/** An object that is written or removed. `key`: letters, digits and `-._~=/`. */
export interface ObjectChange {
  readonly method: 'PUT' | 'DELETE';
  readonly key: string;
  readonly body: string | Uint8Array;
  readonly contentType?: string;
}

export async function s3Request(
  { url, signingKey, headers }: ObjectTarget,
  { method, key, body, contentType }: ObjectChange,
  nowMs: number,
): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
  const bodyHash = await runInTurns(hashBody(body));
  const address = `${url}/${key}`;
  const sent = {
    ...headers,
    ...(contentType !== undefined && { 'content-type': contentType }),
    'x-amz-content-sha256': bodyHash,
  };
  const signature = signAws({ method, url: address, headers: sent, bodyHash }, signingKey, {
    service: 's3',
    nowMs,
  });
  return { url: address, headers: { ...sent, ...signature } };
}
