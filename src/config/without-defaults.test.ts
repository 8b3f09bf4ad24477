import { describe, expect, it } from 'vitest';
import { withoutDefaults } from './without-defaults.ts';

const schema = {
  properties: {
    port: { default: 80 },
    server: { default: {}, properties: { path: { default: '/api' }, tls: { default: null } } },
    list: { default: [], items: { properties: { retries: { default: 3 } } } },
    maybe: { default: null, anyOf: [{}, { properties: { share: { default: 1 } } }] },
  },
};

describe('withoutDefaults', () => {
  it('leaves out values, sections and members of list entries that are as the schema has them', () => {
    expect(
      withoutDefaults(
        {
          port: 80,
          server: { path: '/api', tls: null },
          list: [{ name: 'a', retries: 3 }, { retries: 4 }],
          maybe: { share: 1 },
        },
        schema,
      ),
    ).toEqual({ list: [{ name: 'a' }, { retries: 4 }], maybe: {} });
  });

  it('keeps what differs, and what the schema does not know', () => {
    const value = { port: 81, server: { tls: { cert: 'c' } }, list: [1], maybe: { share: 2 }, other: null };
    expect(withoutDefaults(value, schema)).toEqual(value);
  });
});
