import { describe, expect, it } from 'vitest';
import { UsageIntake } from './usage-intake.ts';
import type { UsageScopes } from './usage-owners.ts';

const SCOPES: UsageScopes = {
  account: { id: 'account', workspaceId: 'default' },
  keys: [{ hash: 'key', accountId: 'other', workspaceId: 'of-other', userId: 'jane' }],
  workspaces: [
    { id: 'default', accountId: 'account' },
    { id: 'second', accountId: 'account' },
    { id: 'of-other', accountId: 'other' },
  ],
};

const AT_MS = Date.UTC(2026, 5, 14, 12);

const LEAST = {
  generation_id: 'gen-1',
  created_at: '2026-06-14T12:00:00Z',
  model: 'acme/large',
  tokens_prompt: 1_001,
  tokens_completion: 20,
};

function intake() {
  const reading = new UsageIntake(SCOPES, AT_MS);
  let number = 0;
  const take = (members: object) => {
    number += 1;
    return reading.take({ number, text: JSON.stringify({ ...LEAST, ...members }) });
  };
  return { reading, take };
}

const eventOf = (members: object) => intake().take(members);

describe('UsageIntake', () => {
  it('makes an event of a line that has little', () => {
    expect(eventOf({})).toEqual({
      id: 'gen-1',
      createdAtMs: AT_MS,
      accountId: 'account',
      workspaceId: 'default',
      keyHash: null,
      userId: null,
      app: null,
      modelId: 'acme/large',
      model: 'acme/large',
      variant: 'standard',
      provider: null,
      endpoint: null,
      origin: null,
      country: null,
      finishReason: null,
      externalUser: null,
      contextLengthBucket: '10K',
      modalities: '',
      isZdr: false,
      isByok: false,
      isGuarded: false,
      isFromCache: false,
      promptTokens: 1_001,
      completionTokens: 20,
      reasoningTokens: 0,
      cachedTokens: 0,
      latencyMs: null,
      generationMs: null,
      creditNanos: 0n,
      byokNanos: 0n,
      upstreamNanos: 0n,
      cacheNanos: null,
      webNanos: null,
      isImported: true,
    });
  });

  it('makes an event of a line that has everything', () => {
    const { reading, take } = intake();
    const event = take({
      provider: 'Acme',
      api_key_hash: 'key',
      workspace_id: 'of-other',
      user: 'end user',
      app: {
        referer: 'https://Me:secret@App.example:8443/path?token=1',
        title: ' App ',
        categories: ['game'],
      },
      tokens_reasoning: 5,
      tokens_cached: 1_000,
      cost_usd: 0.0000000015,
      finish_reason: 'tool_calls',
      latency_ms: 12.5,
      generation_ms: 900.4,
      country: 'de',
    });
    expect(event).toMatchObject({
      accountId: 'other',
      workspaceId: 'of-other',
      keyHash: 'key',
      userId: 'jane',
      externalUser: 'end user',
      app: 'app.example:8443',
      origin: 'https://app.example:8443',
      provider: 'Acme',
      country: 'DE',
      finishReason: 'tool_calls',
      modalities: 'tool_calling',
      reasoningTokens: 5,
      cachedTokens: 1_000,
      latencyMs: 13,
      generationMs: 900,
      creditNanos: 2n,
      byokNanos: 0n,
      upstreamNanos: 2n,
    });
    expect(reading.takeSightings()).toEqual([
      {
        host: 'app.example:8443',
        url: 'https://app.example:8443/path',
        title: 'App',
        categories: ['game'],
        atMs: AT_MS,
      },
    ]);
    expect(reading.takeSightings()).toEqual([]);
  });

  it('describes an app as it was last seen, for any order of lines', () => {
    const { reading, take } = intake();
    for (const [hour, title] of [
      ['03', 'New'],
      ['05', 'New'],
      ['01', 'Old'],
      ['04', 'New'],
    ]) {
      take({ created_at: `2026-06-14T${hour}:00:00Z`, app: { referer: 'https://a.example', title } });
    }
    const app = { host: 'a.example', url: 'https://a.example/', categories: [] };
    expect(reading.takeSightings()).toEqual([
      { ...app, title: 'New', atMs: Date.UTC(2026, 5, 14, 5) },
      { ...app, title: 'Old', atMs: Date.UTC(2026, 5, 14, 1) },
    ]);
  });

  it('counts what BYOK credentials cost apart from credits', () => {
    expect(eventOf({ cost_usd: 1.25, is_byok: true })).toMatchObject({
      isByok: true,
      creditNanos: 0n,
      byokNanos: 1_250_000_000n,
      upstreamNanos: 1_250_000_000n,
    });
  });

  it.each([
    ['acme/large:free', 'acme/large:free', 'free'],
    ['acme/large:nitro', 'acme/large', 'nitro'],
    ['acme/large:free:floor', 'acme/large:free', 'floor'],
    ['acme/large:online', 'acme/large', 'online'],
  ])('takes %s apart', (model, modelId, variant) => {
    expect(eventOf({ model })).toMatchObject({ modelId, model: modelId, variant });
  });

  it.each([
    [{ workspace_id: 'second' }, { accountId: 'account', workspaceId: 'second', keyHash: null }],
    [{ workspace_id: 'of-other' }, { accountId: 'other', workspaceId: 'of-other', userId: null }],
    [{ api_key_hash: 'key' }, { accountId: 'other', workspaceId: 'of-other', userId: 'jane' }],
  ])('finds the owner of %j', (members, owner) => {
    expect(eventOf(members)).toMatchObject(owner);
  });

  it('lists the first bad lines, and counts them all', () => {
    const { reading, take } = intake();
    take({});
    take({ api_key_hash: 'unknown' });
    take({ workspace_id: 'unknown' });
    take({ api_key_hash: 'key', workspace_id: 'default' });
    reading.take({ number: 9, problem: 'is not valid UTF-8' });
    for (let count = 0; count < 1_100; count++) take({ tokens_prompt: -1 });
    expect({ lines: reading.lines, bad: reading.bad }).toEqual({ lines: 1_105, bad: 1_104 });
    expect(reading.badLines).toHaveLength(1_000);
    expect(reading.badLines.slice(0, 4)).toEqual([
      {
        line: 2,
        path: 'api_key_hash',
        message: 'no key has this hash; leave it out for a key that is gone',
      },
      { line: 3, path: 'workspace_id', message: 'no workspace has this id' },
      { line: 4, path: 'workspace_id', message: 'is not the workspace of the key' },
      { line: 9, path: '', message: 'is not valid UTF-8' },
    ]);
  });

  it.each<[object, readonly string[], string | null]>([
    [{ session_id: 's' }, ['session_id'], null],
    [{ session_id: null, app: null }, [], null],
    [{ app: {} }, [], null],
    [{ app: { referer: 'https://a.example', title: 'A', categories: ['game', 'legal'] } }, [], 'a.example'],
    [
      { app: { referer: 'https://a.example', categories: ['game', 'games'] } },
      ['app.categories'],
      'a.example',
    ],
    [
      { app: { referer: 'https://a.example', categories: ['game', 'legal', 'roleplay'] } },
      ['app.categories'],
      'a.example',
    ],
    [{ app: { referer: 'no address' } }, ['app.referer'], null],
    [{ app: { referer: 'http://localhost:3000' } }, ['app.referer'], null],
    [{ app: { referer: 'http://localhost:3000', title: 'Mine' } }, [], 'localhost:3000'],
    [{ app: { title: 'Nameless', categories: ['game'] } }, ['app.title', 'app.categories'], null],
    [{ app: { referer: 'https://a.example', title: 'A'.repeat(129) } }, ['app.title'], 'a.example'],
    [{ app: { referer: `https://a.example/${'x'.repeat(600)}` } }, ['app.referer'], 'a.example'],
  ])('says what is not kept of %j', (members, notKept, app) => {
    const { reading, take } = intake();
    expect(take(members)?.app).toBe(app);
    expect(take(members)?.app).toBe(app);
    expect([...reading.notKept]).toEqual(notKept.map((member) => [member, 2]));
  });
});
