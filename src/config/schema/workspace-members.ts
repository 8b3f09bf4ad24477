import Type, { type TSchema } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { LIMIT_WINDOWS, type LimitWindow, RESET_WINDOWS } from '../../kit/time/windows.ts';
import { providerSlug } from './catalog-members.ts';
import { classifier } from './classifier-members.ts';
import { destination } from './destination-members.ts';
import { guardrail } from './guardrail-members.ts';
import { keyHash, readable } from './workspace-texts.ts';

/**
 * Schemas of workspaces in the configuration file. Members are named as in the management API. Members of the API that
 * steer nothing yet are left out, so that every setting of a file has an effect.
 */

const MAX_ENTRIES = 1000;
const MAX_LIST_ENTRIES = 100;

const flag = nullish(Type.Boolean());

const list = <T extends TSchema>(item: T, minItems = 0) =>
  nullish(Type.Array(item, { minItems, maxItems: MAX_LIST_ENTRIES }));

const words = Type.String({ minLength: 1, maxLength: 256 });

const key = closed({
  name: readable(255),
  hash: nullish(keyHash),
  secret: nullish(
    Type.String({
      pattern: '^[\\x21-\\x7e]{16,512}$',
      explain: 'must be 16 to 512 printable characters without spaces',
    }),
  ),
  limit: nullish(Type.Number({ minimum: 0, maximum: MAX_USD })),
  limit_reset: nullish(oneOf(RESET_WINDOWS)),
  include_byok_in_limit: flag,
  disabled: flag,
  expires_at: nullish(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|\\+00:00)$',
      explain: 'must be a moment in UTC such as 2030-01-31T12:00:00Z',
    }),
  ),
  creator_user_id: nullish(readable(256)),
});

const credential = closed({
  provider: providerSlug,
  name: nullish(readable(255)),
  api_key: Type.String({ minLength: 1, maxLength: 65_536 }),
  disabled: flag,
  is_fallback: flag,
  is_required: flag,
  is_byok_only: flag,
  declared_zdr: flag,
  allowed_models: list(words),
  allowed_user_ids: list(words),
  allowed_api_key_hashes: list(keyHash, 1),
});

const budget = nullish(Type.Number({ exclusiveMinimum: 0, maximum: MAX_USD }));

const budgets = closed({
  ...(Object.fromEntries(LIMIT_WINDOWS.map((window) => [window, budget])) as Record<
    LimitWindow,
    typeof budget
  >),
  include_byok_in_budgets: flag,
});

export const workspace = closed({
  slug: Type.String({
    maxLength: 50,
    pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    explain: 'must be 1 to 50 lower-case letters and digits, with single hyphens between them',
  }),
  name: nullish(readable(100)),
  description: nullish(Type.String({ maxLength: 500 })),
  default_text_model: nullish(readable(256)),
  default_provider_sort: nullish(oneOf(['price', 'throughput', 'latency', 'exacto'])),
  is_observability_io_logging_enabled: flag,
  is_observability_broadcast_enabled: flag,
  io_logging_sampling_rate: nullish(Type.Number({ minimum: 0.0001, maximum: 1 })),
  budgets: nullish(budgets),
  keys: nullish(Type.Array(key, { maxItems: MAX_ENTRIES })),
  byok: nullish(Type.Array(credential, { maxItems: MAX_LIST_ENTRIES })),
  guardrails: nullish(Type.Array(guardrail, { maxItems: MAX_LIST_ENTRIES })),
  destinations: nullish(Type.Array(destination, { maxItems: MAX_LIST_ENTRIES })),
  classifiers: nullish(Type.Array(classifier, { maxItems: MAX_LIST_ENTRIES })),
});
