import { describe, expect, it } from 'vitest';
import { compileValidator } from '../kit/validate.ts';
import { currentKeyObject, currentKeySchema } from './current-key.ts';

describe('currentKeyObject', () => {
  it('fits its schema and tells the kind and the end of the key', () => {
    const object = currentKeyObject({
      workspaceId: 'b7e1c5b0-8d2f-4d8e-9a57-1d2f4f6d7c11',
      label: 'sk-...1234',
      isManagement: true,
      expiresAtMs: 86_400_000,
      creatorUserId: null,
    });
    expect(compileValidator(currentKeySchema).issuesOf(object)).toEqual([]);
    expect(object).toMatchObject({
      label: 'sk-...1234',
      is_management_key: true,
      is_provisioning_key: true,
      expires_at: '1970-01-02T00:00:00.000Z',
    });
  });
});
