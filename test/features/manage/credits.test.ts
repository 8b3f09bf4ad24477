import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

let gateway: TestGateway;
let ask: Management['ask'];
let command: Management['command'];

beforeAll(async () => {
  gateway = await openTestGateway({ credits: { initial_usd: 5.5 } });
  ({ ask, command } = managementOf(gateway));
});

afterAll(() => gateway.close());

const credits = async (key?: string) => (await ask('GET', '/credits', undefined, key)).body.data;

describe('credits', () => {
  it('begin with what the configuration gives every account', async () => {
    expect(await credits()).toEqual({ total_credits: 5.5, total_usage: 0 });
    const { management_key, id } = await command('accounts.create', { name: 'second' });
    expect(await credits(management_key)).toEqual({ total_credits: 5.5, total_usage: 0 });
    expect(await command('credits.show', { account: 'second' })).toEqual({
      account: 'second',
      account_id: id,
      left_usd: 5.5,
      used_usd: 0,
    });
  });

  it('are set by the operator, and the gateway sees it at once', async () => {
    expect(await command('credits.set', { left: '0.000000001' })).toMatchObject({ left_usd: 1e-9 });
    expect(await credits()).toEqual({ total_credits: 1e-9, total_usage: 0 });
    expect(await command('credits.set', { left: 'none' })).toMatchObject({ left_usd: null });
    expect(await credits()).toEqual({ total_credits: 0, total_usage: 0 });
    expect(await command('credits.show', {})).toMatchObject({ account: 'default', left_usd: null });
    await command('credits.set', { left: '7' });
    expect((await command('credits.show', {})).left_usd).toBe(7);
  });

  it.each(['-1', 'NaN', '1e3', 'all', '', '1000000000000'])('are not set to %j', async (left) => {
    await expect(command('credits.set', { left })).rejects.toThrow('USD: must be an amount');
  });

  it('are not set for an account that does not exist', async () => {
    await expect(command('credits.set', { left: '1', account: 'nobody' })).rejects.toThrow(
      'there is no account named nobody',
    );
    await expect(command('credits.show', { account: 'nobody' })).rejects.toThrow('no account named nobody');
  });

  it('are shown to management keys only', async () => {
    const { status, body } = await ask('GET', '/credits', undefined, gateway.apiKey);
    expect([status, body.error.message]).toEqual([403, 'Only management keys can perform this operation']);
    expect((await ask('GET', '/credits', undefined, null)).status).toBe(401);
  });

  it('are not bought here', async () => {
    for (const body of [undefined, '{}', 'not json']) {
      const { status, body: refusal } = await ask('POST', '/credits/coinbase', body, null);
      expect([status, refusal.error.code]).toEqual([410, 410]);
    }
  });
});
