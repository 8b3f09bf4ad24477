import Type, { type Static } from 'typebox';
import { nullable } from '../values/nullable.ts';

/** What a key may use besides money: members of every object that shows them. */
export const KEY_LIMITS = {
  allowed_models: nullable(Type.Array(Type.String()), {
    description: 'The only models that the key may use; null = all.',
  }),
  requests_per_minute: nullable(Type.Integer(), {
    description: 'A limit of its own; null = that of all keys, `limits.per_key` of the configuration.',
  }),
  tokens_per_minute: nullable(Type.Integer(), {
    description: 'A limit of its own; null = that of all keys, `limits.per_key` of the configuration.',
  }),
};

const keyLimitsSchema = Type.Object(KEY_LIMITS);

export interface LimitedKey {
  readonly allowedModels: readonly string[] | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

export function keyLimits(key: LimitedKey): Static<typeof keyLimitsSchema> {
  return {
    allowed_models: key.allowedModels && [...key.allowedModels],
    requests_per_minute: key.requestsPerMinute,
    tokens_per_minute: key.tokensPerMinute,
  };
}
