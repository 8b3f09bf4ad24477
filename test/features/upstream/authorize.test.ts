import { createVerify, generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Credential, GoogleServiceAccount } from '../../../src/catalog/providers/credential.ts';
import { randomIds } from '../../../src/kit/ids.ts';
import { MemoryBudget } from '../../../src/kit/loop/memory-budget.ts';
import { createNetworkTransport } from '../../../src/net/transport/transport.ts';
import type { Transport } from '../../../src/net/transport/transport-call.ts';
import { createAuthorize } from '../../../src/upstream/auth/authorize.ts';
import { createCallUpstream } from '../../../src/upstream/call/call.ts';
import { type UpstreamCall, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { endpointOf, providerOf } from '../../kit/builders/catalog.ts';
import { requestOf } from '../../kit/builders/request.ts';
import { type FakeUpstream, openFakeUpstream, reply, stall } from '../../kit/fakes/fake-upstream.ts';
import { lineDialect } from './line-dialect.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const MINUTE = 60_000;
const TIMEOUTS = { connect: 1000, firstByte: 300, idle: 1000, total: 5000 };

let tokenServer: FakeUpstream;
let upstream: FakeUpstream;
let network: Transport;
let nowMs = 1_760_000_000_000;

beforeEach(async () => {
  nowMs = 1_760_000_000_000;
  tokenServer = await openFakeUpstream();
  upstream = await openFakeUpstream();
  network = createNetworkTransport();
});

afterEach(async () => {
  await network.close();
  await tokenServer.close();
  await upstream.close();
});

const clock = { now: () => nowMs, monotonic: () => performance.now() };

function account(changes: Partial<GoogleServiceAccount> = {}): GoogleServiceAccount {
  return {
    kind: 'google-service-account',
    clientEmail: 'gateway@acme.example',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKeyId: 'kid-1',
    tokenUri: `${tokenServer.url}/token`,
    projectId: 'acme-prod',
    region: 'global',
    ...changes,
  };
}

function open() {
  const authorize = createAuthorize({ transport: network, clock });
  return {
    authorize: (credential: Exclude<Credential, { kind: 'azure' }>, signal = new AbortController().signal) =>
      authorize({
        url: upstream.url,
        headers: {},
        body: '{}',
        auth: 'google',
        credential,
        signal,
        isByok: false,
        timeouts: TIMEOUTS,
      }),
    call: createCallUpstream({
      largeAnswers: new MemoryBudget(() => Number.POSITIVE_INFINITY),
      transports: { network, simulator: network },
      dialects: { chat: lineDialect },
      authorize,
      clock,
      ids: randomIds,
    }),
  };
}

function callWith(credential: Credential, changes: Partial<UpstreamCall> = {}): UpstreamCall {
  return {
    request: requestOf({ stream: false }),
    endpoint: endpointOf({ provider: providerOf({ baseUrl: upstream.url, auth: 'google' }) }),
    lane: 'translate',
    credential,
    hashUser: (id) => id,
    signal: new AbortController().signal,
    ...changes,
  };
}

const token = (text: string, seconds = 3600) =>
  reply(200, { access_token: text, expires_in: seconds, token_type: 'Bearer' });

describe('a service account', () => {
  it('asks for a token with a signed claim', async () => {
    tokenServer.answer(token('ya29.one'));
    const { headers, secrets } = await open().authorize(account());
    expect(headers).toEqual({ authorization: 'Bearer ya29.one' });
    expect(secrets).toEqual(['ya29.one']);
    const [asked] = tokenServer.requests;
    expect(asked?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    const form = new URLSearchParams(asked?.body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head, claims, signature] = (form.get('assertion') ?? '').split('.') as [string, string, string];
    const parsed = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(parsed(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'kid-1' });
    expect(parsed(claims)).toEqual({
      iss: 'gateway@acme.example',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${tokenServer.url}/token`,
      iat: nowMs / 1000,
      exp: nowMs / 1000 + 3600,
    });
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verify.verify(publicKey, signature, 'base64url')).toBe(true);
  });

  it('keeps its token until five minutes before it expires, however often the credential is read', async () => {
    tokenServer.answer(token('one')).answer(token('two'));
    const { authorize } = open();
    await authorize(account());
    nowMs += 54 * MINUTE;
    expect((await authorize(account())).secrets).toEqual(['one']);
    nowMs += 2 * MINUTE;
    expect((await authorize(account())).secrets).toEqual(['two']);
    expect(tokenServer.requests).toHaveLength(2);
  });

  it('requests one token for all waiting calls; one that is aborted does not abort the others', async () => {
    tokenServer.answer([stall(100), ...(token('one') as readonly never[])]);
    const { authorize } = open();
    const leaving = new AbortController();
    const waiting = [authorize(account()), authorize(account(), leaving.signal), authorize(account())];
    const left = expect(waiting[1]).rejects.toThrow('gone');
    await sleep(20);
    leaving.abort(new Error('gone'));
    await left;
    expect((await Promise.all([waiting[0], waiting[2]])).map((each) => each?.secrets)).toEqual([
      ['one'],
      ['one'],
    ]);
    expect(tokenServer.requests).toHaveLength(1);
  });

  it('keeps two accounts apart', async () => {
    tokenServer.answer(token('one')).answer(token('two'));
    const { authorize } = open();
    await authorize(account());
    expect((await authorize(account({ clientEmail: 'other@acme.example' }))).secrets).toEqual(['two']);
  });

  it('tries again after a refusal, but not at once', async () => {
    tokenServer.answer(reply(503, {})).answer(token('one'));
    const { authorize } = open();
    const refused = await Promise.resolve(authorize(account())).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 503 });
    nowMs += 1900;
    await expect(authorize(account())).rejects.toBe(refused);
    expect(tokenServer.requests).toHaveLength(1);
    nowMs += 200;
    expect((await authorize(account())).secrets).toEqual(['one']);
  });

  it('keeps a token for an hour at most, even if its server allows more', async () => {
    tokenServer.answer(token('one', 1e308)).answer(token('two'));
    const { authorize } = open();
    await authorize(account());
    nowMs += 56 * MINUTE;
    expect((await authorize(account())).secrets).toEqual(['two']);
  });

  it("waits for a token no longer than the provider's limits allow", async () => {
    tokenServer.answer([stall(5000)]);
    const before = performance.now();
    await expect(open().authorize(account())).rejects.toMatchObject({ reason: 'timeout' });
    expect(performance.now() - before).toBeLessThan(2500);
  });

  it('asks for another token, once, when a kept one is refused', async () => {
    const ok = reply(200, { text: 'hi' });
    const refused = reply(401, { error: { message: 'two-1234567 is no token' } });
    tokenServer.answer(token('one-1234567')).answer(token('two-1234567')).answer(token('three-1234567'));
    upstream.answer(ok).answer(reply(401, {})).answer(ok).answer(refused).answer(refused);
    const { call } = open();
    const sent = () => upstream.requests.map(({ headers }) => headers.authorization);
    await call(callWith(account()));
    await call(callWith(account()));
    expect(sent()).toEqual(['Bearer one-1234567', 'Bearer one-1234567', 'Bearer two-1234567']);
    const failure = await call(callWith(account())).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 502, upstreamStatus: 401 });
    expect(JSON.stringify([failure, String(failure)])).not.toContain('two-1234567');
    expect(sent().slice(3)).toEqual(['Bearer two-1234567', 'Bearer three-1234567']);
  });

  it('does not ask again when a fresh token is refused', async () => {
    tokenServer.answer(token('one'));
    upstream.answer(reply(401, {}));
    await expect(open().call(callWith(account()))).rejects.toMatchObject({ upstreamStatus: 401 });
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([
    ['a bad account', reply(400, { error: 'invalid_grant', error_description: 'CANARY' }), 502, 401],
    ['a busy server', reply(429, {}), 429, 429],
    ['a broken server', reply(500, {}), 502, 500],
    ['no token', reply(200, { token_type: 'Bearer' }), 502, 401],
    ['a page', reply(200, '<html>'), 502, 401],
  ])('fails like the provider with %s', async (_name, script, status, upstreamStatus) => {
    tokenServer.answer(script);
    const failure = await open()
      .call(callWith(account()))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamFailure);
    expect(failure).toMatchObject({ status, upstreamStatus, metadata: { provider_name: 'Acme' } });
    expect(JSON.stringify([failure, (failure as Error).message])).not.toMatch(
      /CANARY|PRIVATE KEY|acme\.example/,
    );
    expect(upstream.requests).toHaveLength(0);
  });

  it('fails like the provider if the token server cannot be reached', async () => {
    const credential = account();
    await tokenServer.close();
    await expect(open().call(callWith(credential))).rejects.toThrow('connection refused');
    tokenServer = await openFakeUpstream();
  });

  it('hides its token and account from what an upstream echoes', async () => {
    tokenServer.answer(token('opaque-token-1234'));
    upstream.answer(
      reply(400, { error: { message: 'opaque-token-1234 of gateway@acme.example in acme-prod is bad' } }),
    );
    const failure = (await open()
      .call(callWith(account()))
      .catch((error: unknown) => error)) as UpstreamFailure;
    expect(failure.message).toBe('[redacted] of [redacted] in [redacted] is bad');
    expect(JSON.stringify(failure.metadata)).not.toMatch(/opaque-token|acme/);
  });
});

describe('a call', () => {
  it('goes to the deployment with its key, name and version', async () => {
    upstream.answer(reply(200, { text: 'hi' }));
    const deployment = {
      key: 'own',
      modelSlug: 'acme/large',
      model: 'dep-1',
      baseUrl: `${upstream.url}/openai/deployments/dep-1`,
      query: '?api-version=2025-01-01',
    };
    const provider = providerOf({ baseUrl: undefined, auth: 'azure' });
    await open().call(
      callWith(
        { kind: 'azure', resources: [], deployments: [deployment] },
        { endpoint: endpointOf({ provider }) },
      ),
    );
    const [sent] = upstream.requests;
    expect(sent?.path).toBe('/v1/openai/deployments/dep-1/chat/completions?api-version=2025-01-01');
    expect(sent?.headers['api-key']).toBe('own');
    expect(sent?.json.model).toBe('dep-1');
  });

  it('is signed over the address and the bytes that are sent', async () => {
    upstream.answer(reply(200, { text: 'hi' }));
    await open().call(
      callWith({
        kind: 'aws-access-key',
        accessKeyId: 'AKID',
        secretAccessKey: 'secret',
        sessionToken: 'session',
        region: 'us-east-1',
      }),
    );
    const [sent] = upstream.requests;
    expect(sent?.headers['x-amz-date']).toBe('20251009T085320Z');
    expect(sent?.headers['x-amz-security-token']).toBe('session');
    expect(sent?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/20251009\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
  });

  it('that no part of the credential is for fails before it is sent', async () => {
    const call = callWith({ kind: 'azure', resources: [], deployments: [] });
    await expect(open().call(call)).rejects.toMatchObject({ status: 502, upstreamStatus: 0 });
    expect(upstream.requests).toHaveLength(0);
  });
});

it('asks for no token for a BYOK service account whose address is not allowed', async () => {
  const authorize = createAuthorize({ transport: network, clock });
  const ask = (isByok: boolean) =>
    authorize({
      url: upstream.url,
      headers: {},
      body: '{}',
      auth: 'google',
      credential: account(),
      signal: new AbortController().signal,
      isByok,
      timeouts: TIMEOUTS,
    });
  tokenServer.answer(reply(200, { access_token: 'token-1', expires_in: 3600 }));
  expect((await ask(false)).secrets).toEqual(['token-1']);
  await expect(ask(true)).rejects.toMatchObject({ reason: 'connect' });
  expect(tokenServer.requests).toHaveLength(1);
});
