import { beforeEach, describe, expect, it } from 'vitest';
import { HandClock } from '../../test/kit/fakes/hand-clock.ts';
import type { Egress } from '../net/egress/egress.ts';
import { EgressProblem } from '../net/egress/egress-problem.ts';
import type { McpToken, McpTokens } from '../ports/tenancy/byok-credentials.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import { TokenRefresher } from './token-refresher.ts';

const CALLER = {} as Caller;

let clock: HandClock;
/** The database that gateways share. */
let stored: { version: number; secret: string };
let isStoreDown: boolean;
let reads: number;
/** Refresh tokens that the endpoint was sent. */
let sent: string[];
/** Answers a refresh; by default each refresh token is good for one use. */
let endpoint: (refreshToken: string) => Promise<{ status: number; body: object }>;

beforeEach(() => {
  clock = new HandClock();
  isStoreDown = false;
  reads = 0;
  sent = [];
  stored = { version: 1, secret: secretOf(1, 30) };
  endpoint = async (last) => {
    if (sent.filter((each) => each === last).length > 1)
      return { status: 400, body: { error: 'invalid_grant' } };
    const next = Number(last.slice(1)) + 1;
    const body = { access_token: `a${next}`, refresh_token: `r${next}`, expires_in: 3600 };
    return { status: 200, body };
  };
});

/** The `count`th token, which expires in so many seconds. */
function secretOf(count: number, seconds: number): string {
  return JSON.stringify({
    access_token: `a${count}`,
    refresh_token: `r${count}`,
    token_endpoint: 'https://issuer.test/token',
    client_id: 'c',
    expires_at: Math.floor(clock.now() / 1000) + seconds,
  });
}

/** A gateway, with a cache of its own before the shared database. */
function gateway(): TokenRefresher {
  const read = (): McpToken => {
    const { version, secret } = stored;
    return { id: 'credential', version, reveal: () => secret, accountId: 'a' };
  };
  let cached: McpToken | undefined;
  const tokens: McpTokens = {
    async tokenFor(_, __, { isReadAgain = false } = {}) {
      if (cached !== undefined && !isReadAgain) return cached;
      if (isStoreDown) throw new Error('the database is down');
      reads += 1;
      cached = read();
      return cached;
    },
    async replace({ version }, secret) {
      if (isStoreDown) throw new Error('the database is down');
      if (stored.version === version) stored = { version: version + 1, secret };
      cached = undefined;
    },
  };
  const egress = {
    async fetch(_: string, { body }: { body: string }) {
      const refreshToken = new URLSearchParams(body).get('refresh_token') ?? '';
      sent.push(refreshToken);
      const { status, body: answer } = await endpoint(refreshToken);
      return { status, bytes: Buffer.from(JSON.stringify(answer)), isCut: false };
    },
  } as unknown as Egress;
  return new TokenRefresher({ tokens, egress, clock, refreshMs: () => 1000 });
}

const accessToken = (of: TokenRefresher, refused?: string) => of.accessTokenFor(CALLER, 'docs', refused);

describe('two gateways on one database', () => {
  it('use a refresh token once, although one of them has an old token in its cache', async () => {
    const [one, two] = [gateway(), gateway()];
    stored.secret = secretOf(1, 3600);
    expect(await Promise.all([accessToken(one), accessToken(two)])).toEqual(['a1', 'a1']);
    clock.pass(3_590_000);
    expect(await accessToken(one)).toBe('a2');
    expect(await accessToken(two)).toBe('a2');
    expect(sent).toEqual(['r1']);
  });

  it('do so also after the server has refused the old token', async () => {
    const [one, two] = [gateway(), gateway()];
    stored.secret = secretOf(1, 3600);
    await Promise.all([accessToken(one), accessToken(two)]);
    expect(await accessToken(one, 'a1')).toBe('a2');
    expect(await accessToken(two, 'a1')).toBe('a2');
    expect(sent).toEqual(['r1']);
  });

  it('that refresh at the same moment both have the new token', async () => {
    const answer = endpoint;
    endpoint = async (last) => {
      const isFirst = sent.length === 1;
      const reply = await answer(last);
      // The other gateway is refused, and reads the store, before this one has its tokens.
      if (isFirst) await expect.poll(() => reads).toBeGreaterThan(2);
      return reply;
    };
    expect(await Promise.all([accessToken(gateway()), accessToken(gateway())])).toEqual(['a2', 'a2']);
  });
});

describe('a token endpoint that is down', () => {
  beforeEach(() => {
    endpoint = async () => {
      throw new EgressProblem('unreachable', 'the host cannot be reached');
    };
  });

  it('leaves the old token in use until that expires', async () => {
    const one = gateway();
    expect(await accessToken(one)).toBe('a1');
    expect(await accessToken(one)).toBe('a1');
    expect(sent).toEqual(['r1']);
    clock.pass(31_000);
    await expect(accessToken(one)).rejects.toThrow('could not be refreshed');
  });

  it('is asked again after 30 seconds', async () => {
    stored.secret = secretOf(1, -1);
    const answers = endpoint;
    const one = gateway();
    for (let time = 0; time < 3; time++) await expect(accessToken(one)).rejects.toThrow('try again later');
    expect(sent).toEqual(['r1']);
    endpoint = async (last) =>
      sent.length > 1 ? { status: 200, body: { access_token: `${last}-new` } } : answers(last);
    clock.pass(30_001);
    expect(await accessToken(one)).toBe('r1-new');
  });

  it('does not help a token that the server has refused', async () => {
    stored.secret = secretOf(1, 3600);
    await expect(accessToken(gateway(), 'a1')).rejects.toThrow('could not be refreshed');
  });
});

describe('a database that is down', () => {
  it('does not lose tokens that were refreshed', async () => {
    const one = gateway();
    const answers = endpoint;
    endpoint = async (last) => {
      isStoreDown = true;
      return answers(last);
    };
    expect(await accessToken(one)).toBe('a2');
    expect(stored.version).toBe(1);
    isStoreDown = false;
    expect(await accessToken(one)).toBe('a2');
    await expect.poll(() => stored.version).toBe(2);
    expect(await accessToken(gateway())).toBe('a2');
    expect(sent).toEqual(['r1']);
  });

  it('keeps the refresh token unused', async () => {
    const one = gateway();
    stored.secret = secretOf(1, 3600);
    await accessToken(one);
    isStoreDown = true;
    clock.pass(3_570_000);
    expect(await accessToken(one)).toBe('a1');
    clock.pass(60_000);
    await expect(accessToken(one)).rejects.toThrow('cannot be read at the moment');
    expect(sent).toEqual([]);
  });
});

it('remembers a refusal for 30 seconds', async () => {
  stored.secret = secretOf(1, -1);
  endpoint = async () => ({ status: 400, body: { error: 'invalid_grant' } });
  const one = gateway();
  for (let time = 0; time < 3; time++) await expect(accessToken(one)).rejects.toThrow('invalid_grant');
  expect(sent).toEqual(['r1']);
  stored = { version: 2, secret: secretOf(5, -1) };
  await expect(accessToken(one)).rejects.toThrow('invalid_grant');
  expect(sent).toEqual(['r1', 'r5']);
});
