import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/kit/builders/tenancy.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import { currentKeyObject, currentKeySchema } from './current-key.ts';

describe('currentKeyObject', () => {
  it('fits its schema, and has the kind and the end of the key', () => {
    const object = currentKeyObject({
      key: keyOf({
        workspaceId: 'b7e1c5b0-8d2f-4d8e-9a57-1d2f4f6d7c11',
        label: 'sk-...1234',
        isManagement: true,
        expiresAtMs: 86_400_000,
        limitNanos: 12_500_000_000n,
        limitReset: 'weekly',
        includeByokInLimit: true,
      }),
      spending: {
        credit: { lifetime: 4_000_000_000n, monthly: 3n, weekly: 2n, daily: 1n },
        byok: { lifetime: 8n, monthly: 7n, weekly: 6n, daily: 5n },
      },
      remainingNanos: 1n,
    });
    expect(compileValidator(currentKeySchema).issuesOf(object)).toEqual([]);
    expect(object).toMatchObject({
      label: 'sk-...1234',
      is_management_key: true,
      is_provisioning_key: true,
      expires_at: '1970-01-02T00:00:00.000Z',
      limit: 12.5,
      limit_remaining: 1e-9,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      usage: 4,
      usage_daily: 1e-9,
      usage_weekly: 2e-9,
      usage_monthly: 3e-9,
      byok_usage: 8e-9,
      byok_usage_daily: 5e-9,
      byok_usage_weekly: 6e-9,
      byok_usage_monthly: 7e-9,
    });
  });
});
