import { describe, expect, it } from 'vitest';
import type { App } from '../../ports/events/apps.ts';
import type { StoredGeneration } from '../../ports/generations/generations.ts';
import { Generations, type GenerationsDependencies } from './generations.ts';

const generation = (account: string, source: string): StoredGeneration => ({
  id: 'gen-1-x',
  scopes: { key: 'k', workspace: 'w', account },
  settledAtMs: 1,
  charge: { creditNanos: 1n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row: { source },
});

const APP: App = { id: 7, host: 'app.example', url: 'https://app.example/', title: null, categories: [] };

const known: GenerationsDependencies['apps'] = {
  ofHosts: async (hosts) => (hosts.includes(APP.host) ? [APP] : []),
};

const ofAccount = (accountId: string) => ({ accountId, keyHash: null });

function generationsWith(
  recent: StoredGeneration | undefined,
  row: StoredGeneration | undefined,
  apps = known,
) {
  return new Generations({
    recent: { recent: () => recent },
    rows: { find: async (account) => (row?.scopes.account === account ? row : undefined) },
    refused: { find: async () => undefined },
    contents: { get: async () => undefined },
    apps,
    prices: { inForce: async () => [] },
  });
}

describe('Generations', () => {
  it('finds a generation before it has its row, and after', async () => {
    const early = generationsWith(generation('a', 'ledger'), undefined);
    expect((await early.get(ofAccount('a'), 'gen-1-x')).row.source).toBe('ledger');
    const late = generationsWith(undefined, generation('a', 'row'));
    expect((await late.get(ofAccount('a'), 'gen-1-x')).row.source).toBe('row');
  });

  it('names the app by its id, where it is known', async () => {
    const rowOf = (referer: string) => ({
      ...generation('a', ''),
      row: { http_referer: referer, app_id: null },
    });
    const idOf = async (referer: string) =>
      (await generationsWith(undefined, rowOf(referer)).get(ofAccount('a'), 'gen-1-x')).row.app_id;
    expect(await idOf('https://APP.example/deep')).toBe(7);
    expect(await idOf('https://other.example')).toBeNull();
    expect(await idOf('no address')).toBeNull();
  });

  it('needs no app to show what was settled a moment ago, but does to show a row', async () => {
    const away = { ofHosts: () => Promise.reject(new Error('away')) };
    const one = { ...generation('a', ''), row: { http_referer: 'https://app.example', app_id: null } };
    expect(
      (await generationsWith(one, undefined, away).get(ofAccount('a'), 'gen-1-x')).row.app_id,
    ).toBeNull();
    await expect(generationsWith(undefined, one, away).get(ofAccount('a'), 'gen-1-x')).rejects.toThrow(
      'away',
    );
  });

  it('shows nothing of another account, wherever it is', async () => {
    const notFound = { kind: 'not-found', message: 'Resource not found' };
    await expect(
      generationsWith(generation('a', ''), undefined).get(ofAccount('b'), 'gen-1-x'),
    ).rejects.toMatchObject(notFound);
    await expect(
      generationsWith(undefined, generation('a', '')).get(ofAccount('b'), 'gen-1-x'),
    ).rejects.toMatchObject(notFound);
    await expect(generationsWith(undefined, undefined).get(ofAccount('a'), 'gen-1-x')).rejects.toMatchObject(
      notFound,
    );
    await expect(
      generationsWith(undefined, undefined).contentOf({ ...ofAccount('a'), workspaceId: null }, 'x'),
    ).rejects.toMatchObject(notFound);
  });

  it('shows one key its own generations alone', async () => {
    const seen = (keyHash: string) =>
      [generationsWith(generation('a', ''), undefined), generationsWith(undefined, generation('a', ''))].map(
        (generations) => generations.get({ accountId: 'a', keyHash }, 'gen-1-x'),
      );
    for (const found of seen('k')) expect((await found).id).toBe('gen-1-x');
    for (const found of seen('other')) await expect(found).rejects.toMatchObject({ kind: 'not-found' });
  });
});
