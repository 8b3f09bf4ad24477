import type { LookupAddress, LookupOptions } from 'node:dns';
import { expect, it } from 'vitest';
import { type EgressRules, NO_EGRESS_RULES, parseEgressRules } from '../../kit/net/egress.ts';
import { EGRESS_REFUSED_CODE, guardedLookup, type LookUpAll, requireAllowedUrl } from './egress-guard.ts';

/** What a guarded look-up of `rebind.example.` gives when the name leads to `found`. */
function lookUp(
  found: string[],
  options: LookupOptions = { all: true },
  rules: EgressRules = NO_EGRESS_RULES,
) {
  const lookUpAll: LookUpAll = (_host, _options, callback) =>
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  return new Promise<{ code: string | undefined; address: string | LookupAddress[]; family?: number }>(
    (resolve) =>
      guardedLookup(443, rules, lookUpAll)('Rebind.Example.', options, (error, address, family) =>
        resolve({ code: error?.code, address, ...(family !== undefined && { family }) }),
      ),
  );
}

it('returns public addresses only', async () => {
  expect(await lookUp(['127.0.0.1', '93.184.216.34', '::1', '2606:4700::1111'])).toEqual({
    code: undefined,
    address: [
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ],
  });
  expect(await lookUp(['10.0.0.1', '93.184.216.34'], {})).toEqual({
    code: undefined,
    address: '93.184.216.34',
    family: 4,
  });
});

it.each([['127.0.0.1'], ['::ffff:169.254.169.254'], ['fe80::1%lo'], ['64:ff9b::a00:1']])(
  'refuses a name that leads to %s alone',
  async (address) => {
    expect((await lookUp([address])).code).toBe(EGRESS_REFUSED_CODE);
    expect((await lookUp([address], {})).code).toBe(EGRESS_REFUSED_CODE);
  },
);

it('returns private addresses that the operator allows, by name or by address', async () => {
  for (const rule of ['rebind.example', '*.example:443', '10.0.0.0/8']) {
    expect((await lookUp(['10.0.0.1'], {}, parseEgressRules([rule]))).address).toBe('10.0.0.1');
  }
  expect((await lookUp(['10.0.0.1'], {}, parseEgressRules(['rebind.example:80']))).code).toBe(
    EGRESS_REFUSED_CODE,
  );
});

it('gives a failed look-up the same error as a forbidden address', async () => {
  const failing: LookUpAll = (_host, _options, callback) =>
    callback(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []);
  const code = await new Promise((resolve) =>
    guardedLookup(443, NO_EGRESS_RULES, failing)('x.example', {}, (error) => resolve(error?.code)),
  );
  expect(code).toBe(EGRESS_REFUSED_CODE);
});

it('refuses a literal address without a look-up', () => {
  expect(() => requireAllowedUrl(new URL('https://127.0.0.1/'), NO_EGRESS_RULES)).toThrow(
    'the address is unknown or not one that may be called',
  );
  requireAllowedUrl(new URL('https://127.0.0.1:8443/'), parseEgressRules(['127.0.0.1']));
});
