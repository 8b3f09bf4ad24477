import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kit/json/json.ts';
import { appSightingsOf } from './app-sightings.ts';

const generation = (row: JsonObject, settledAtMs = 0) => ({ row, settledAtMs });

const from = (referer: string | null, title: string | null = null, more: JsonObject = {}) =>
  generation({
    http_referer: referer,
    app_title: title,
    app_categories: [],
    created_at: '2026-01-01T00:00:00.000Z',
    ...more,
  });

const hostsOf = (...generations: ReturnType<typeof generation>[]) =>
  appSightingsOf(generations).map(({ host }) => host);

describe('appSightingsOf', () => {
  it('knows an app by its referer, and by nothing else', () => {
    expect(
      hostsOf(from('https://App.example:8443/a'), from(null, 'Mine'), from('no address', 'Mine')),
    ).toEqual(['app.example:8443']);
  });

  it('knows apps of the local machine only with a title', () => {
    expect(hostsOf(from('http://localhost:3000'))).toEqual([]);
    expect(hostsOf(from('http://localhost:3000', 'Mine'))).toEqual(['localhost:3000']);
  });

  it('makes one of many, with the latest title and all categories', () => {
    const at = (minute: number) => ({ created_at: `2026-01-01T00:0${minute}:00.000Z` });
    expect(
      appSightingsOf([
        from('https://a.example/first', null, { ...at(9), app_categories: ['game', 'mine'] }),
        from('https://a.example/second', 'Old', { ...at(1), app_categories: ['legal', 'game'] }),
        from('https://a.example', 'New', { ...at(3), app_categories: ['roleplay'] }),
        from('https://a.example', 'Older', at(2)),
        from('https://b.example', 'B'),
      ]),
    ).toEqual([
      {
        host: 'a.example',
        url: 'https://a.example/first',
        title: 'New',
        categories: ['game', 'legal', 'roleplay'],
        atMs: Date.UTC(2026, 0, 1, 0, 3),
      },
      {
        host: 'b.example',
        url: 'https://b.example/',
        title: 'B',
        categories: [],
        atMs: Date.UTC(2026, 0, 1),
      },
    ]);
  });

  it('keeps nothing of an address that may be secret', () => {
    const [sighting] = appSightingsOf([from('https://me:word@a.example/path?token=x#y')]);
    expect(sighting?.url).toBe('https://a.example/path');
  });

  it('reads records that lack members', () => {
    expect(appSightingsOf([generation({})])).toEqual([]);
    expect(appSightingsOf([generation({ http_referer: 'https://a.example' }, 7)])).toEqual([
      { host: 'a.example', url: 'https://a.example/', title: null, categories: [], atMs: 7 },
    ]);
  });
});
