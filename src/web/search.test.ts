import { describe, expect, it } from 'vitest';
import { ENGINES } from './engines/engine-table.ts';
import { untakenMembers } from './search.ts';

describe('members that an engine does not take', () => {
  const user_location = {
    type: 'approximate',
    country: 'de',
    region: 'SH',
    city: 'Kiel',
    timezone: 'Europe/Berlin',
  };

  it.each([
    ['tavily', ['user_location.region', 'user_location.city', 'user_location.timezone']],
    ['exa', ['user_location.region', 'user_location.city', 'user_location.timezone']],
    ['firecrawl', ['user_location.timezone']],
    ['searxng', ['user_location']],
  ] as const)('are named, each field of a location: %s', (engine, ignored) => {
    expect(untakenMembers(ENGINES[engine], { user_location }, undefined)).toEqual(ignored);
  });

  it('are those of a place without a country too', () => {
    const place = { type: 'approximate', city: 'Kiel', region: 'SH' };
    const ignored = untakenMembers(ENGINES.tavily, { user_location: place }, undefined);
    expect(ignored).toEqual(['user_location.region', 'user_location.city']);
  });
});
