import { describe, expect, it } from 'vitest';
import type { StoredGeneration } from '../ports/generations.ts';
import { Generations } from './generations.ts';

const generation = (account: string, source: string): StoredGeneration => ({
  id: 'gen-1-x',
  scopes: { key: 'k', workspace: 'w', account },
  settledAtMs: 1,
  charge: { creditNanos: 1n, byokNanos: 0n },
  writtenOffNanos: 0n,
  row: { source },
});

function generationsWith(recent: StoredGeneration | undefined, row: StoredGeneration | undefined) {
  return new Generations(
    { recent: () => recent },
    { find: async (account) => (row?.scopes.account === account ? row : undefined) },
    { get: async () => undefined },
  );
}

describe('Generations', () => {
  it('finds a generation before it has its row, and after', async () => {
    const early = generationsWith(generation('a', 'ledger'), undefined);
    expect((await early.get('a', 'gen-1-x')).row.source).toBe('ledger');
    const late = generationsWith(undefined, generation('a', 'row'));
    expect((await late.get('a', 'gen-1-x')).row.source).toBe('row');
  });

  it('shows nothing of another account, wherever it is', async () => {
    const notFound = { kind: 'not-found', message: 'Resource not found' };
    await expect(generationsWith(generation('a', ''), undefined).get('b', 'gen-1-x')).rejects.toMatchObject(
      notFound,
    );
    await expect(generationsWith(undefined, generation('a', '')).get('b', 'gen-1-x')).rejects.toMatchObject(
      notFound,
    );
    await expect(generationsWith(undefined, undefined).get('a', 'gen-1-x')).rejects.toMatchObject(notFound);
    await expect(generationsWith(undefined, undefined).contentOf('a', 'x')).rejects.toMatchObject(notFound);
  });
});
