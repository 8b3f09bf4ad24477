import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../../test/adapters/contracts/temporary-directory.ts';
import { eventHistory } from '../../../../../test/kit/builders/event-history.ts';
import type { AppSighting } from '../../../../ports/events/apps.ts';
import { EventBundleUnreadable, openEventBundle, readBundleApps } from './event-bundle.ts';

const sighting = (more: Partial<AppSighting>): AppSighting => ({
  host: 'app.example',
  url: 'https://app.example/',
  title: null,
  categories: [],
  atMs: 0,
  ...more,
});

describe('readBundleApps', () => {
  it('has one sighting for each app: its first address, its latest title, all categories', async () => {
    const directory = temporaryDirectory();
    const file = join(directory.path, 'bundle.duckdb');
    const bundle = openEventBundle(file);
    await bundle.add([...eventHistory(10, 1)]);
    bundle.addApps([
      sighting({ title: 'New', atMs: 9, categories: ['cli-agent'] }),
      sighting({ host: 'other.example:8443', url: 'https://other.example:8443/' }),
    ]);
    bundle.addApps([
      sighting({ url: 'https://app.example/later', title: "O'ld", atMs: 3, categories: ['game'] }),
    ]);
    await bundle.close();
    expect(await readBundleApps(file)).toEqual([
      sighting({ title: 'New', atMs: 9, categories: ['cli-agent', 'game'] }),
      sighting({ host: 'other.example:8443', url: 'https://other.example:8443/' }),
    ]);
    directory.remove();
  });

  it('says of a file that is none that it cannot be read', async () => {
    const directory = temporaryDirectory();
    const file = join(directory.path, 'bundle.duckdb');
    const bundle = openEventBundle(file);
    await bundle.add([...eventHistory(10, 1)]);
    await bundle.discard();
    await expect(readBundleApps(file)).rejects.toThrow();
    await expect(readBundleApps(import.meta.filename)).rejects.toThrow(EventBundleUnreadable);
    directory.remove();
  });
});
