import { describe, expect, it } from 'vitest';
import { DeclaredFile } from '../../../src/app/declared-file.ts';
import { KNOWN_PROVIDERS } from '../../../src/catalog/providers/known-providers.ts';
import { type LoadedConfiguration, requireConfiguration } from '../../../src/config/load.ts';
import { openLog } from '../../../src/kit/log/log.ts';
import { DeclarationConflict } from '../../../src/manage/declared/conflicts.ts';
import type { Declarations } from '../../../src/manage/declared/declarations.ts';
import { DatabaseUnavailable } from '../../../src/store/sql/database-unavailable.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

const loaded = (file: string | undefined): LoadedConfiguration => {
  const temporary = temporaryDirectory();
  const read = requireConfiguration({ env: {}, cwd: temporary.path, knownProviders: KNOWN_PROVIDERS });
  temporary.remove();
  return { ...read, file };
};

/** A file whose declarations are applied with these outcomes, one after another. */
function declaredFile(outcomes: (Error | 'stored')[]) {
  const lines: string[] = [];
  const applied: unknown[] = [];
  const inForce = loaded('/etc/signalbox.yaml');
  const apply: Declarations['apply'] = async (config) => {
    applied.push(config);
    const outcome = outcomes.shift() ?? 'stored';
    if (outcome !== 'stored') throw outcome;
    return { created: 1, updated: 0, released: 0 };
  };
  const installation = {
    declarations: { apply } as Declarations,
    whenDatabaseUp: async <T>(work: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof DatabaseUnavailable)) throw error;
        }
      }
    },
  };
  const log = openLog({ level: 'info', readable: false, write: (line) => lines.push(line), now: () => 0 });
  return { file: new DeclaredFile(installation, () => inForce, log), applied, inForce, lines };
}

const STORED = 'workspaces of the configuration file were stored';

describe('the workspaces of the configuration file', () => {
  it('wait for the database at the start', async () => {
    const { file, applied, lines } = declaredFile([new DatabaseUnavailable(), 'stored']);
    await file.applyFirst();
    expect(applied).toHaveLength(2);
    expect(lines.join('')).toContain(STORED);
  });

  it('follow a reload when the database answers again, in the configuration that is then in force', async () => {
    const { file, applied, inForce, lines } = declaredFile([
      new DatabaseUnavailable(),
      new DatabaseUnavailable(),
      'stored',
    ]);
    await file.apply(loaded('/etc/signalbox.yaml'));
    await expect.poll(() => lines.join('')).toContain(STORED);
    expect(lines.join('')).toContain('are stored when the database answers');
    expect(applied.at(-1)).toBe(inForce.config);
  });

  it('refuse a reload that contradicts the database', async () => {
    const conflict = new DeclarationConflict([{ path: 'workspaces[0].keys[0].hash', message: 'is taken' }]);
    const { file } = declaredFile([conflict]);
    await expect(file.apply(loaded('/etc/signalbox.yaml'))).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('workspaces[0].keys[0].hash: is taken'),
    });
  });

  it('stay as they are for a gateway without a file', async () => {
    const { file, applied } = declaredFile([]);
    await file.apply(loaded(undefined));
    expect(applied).toEqual([]);
  });
});
