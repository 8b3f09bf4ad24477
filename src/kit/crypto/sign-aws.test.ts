import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AwsSigningKey, hashBody, signAws } from './sign-aws.ts';

/** The account, time and signatures of the test suite that AWS publishes for Signature Version 4. */
const CREDENTIAL: AwsSigningKey = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const CONTEXT = { service: 'service', nowMs: Date.parse('2015-08-30T12:36:00Z') };
const EMPTY = createHash('sha256').digest('hex');

function signatureOf(
  method: string,
  url: string,
  { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string } = {},
): string | undefined {
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const { authorization } = signAws({ method, url, headers, bodyHash }, CREDENTIAL, CONTEXT);
  return /Signature=(\w+)$/.exec(authorization ?? '')?.[1];
}

describe('the published test suite', () => {
  it.each([
    ['get-vanilla', 'GET', '/', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '/', {}, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      {},
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'post-x-www-form-urlencoded',
      'POST',
      '/',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'Param1=value1' },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s', (_name, method, path, more, signature) => {
    expect(signatureOf(method, `https://example.amazonaws.com${path}`, more)).toBe(signature);
  });

  it('the example of the documentation: ListUsers', () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const url = 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08';
    const signed = signAws({ method: 'GET', url, headers, bodyHash: EMPTY }, CREDENTIAL, {
      ...CONTEXT,
      service: 'iam',
    });
    expect(signed).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    });
  });
});

describe('signAws', () => {
  const url = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/converse';

  it('signs the session token and what AWS reads, not what others may change', () => {
    const signed = signAws(
      {
        method: 'POST',
        url,
        headers: { 'user-agent': 'x', 'content-type': 'application/json' },
        bodyHash: EMPTY,
      },
      { ...CREDENTIAL, sessionToken: 'session' },
      CONTEXT,
    );
    expect(signed['x-amz-security-token']).toBe('session');
    expect(signed.authorization).toContain(
      'SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,',
    );
  });

  it('distinguishes encoded paths from plain ones', () => {
    expect(signatureOf('POST', url)).not.toBe(signatureOf('POST', url.replace('%3A', ':')));
  });

  it('hashes bytes in slices as in one piece', () => {
    const bytes = Buffer.alloc(1_200_000, 'signalbox');
    const work = hashBody(bytes);
    let slices = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) slices += 1;
    expect(slices).toBe(2);
    expect(step.value).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(hashBody('').next().value).toBe(EMPTY);
  });
});
