import Type, { type TSchema } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { RESET_WINDOWS } from '../../kit/time/windows.ts';
import {
  BUILTIN_SLUGS,
  DATA_REGIONS,
  FILTER_ACTIONS,
  MAX_SERVICE_TIMEOUT_MS,
  SCAN_SCOPES,
  ZDR_FAMILIES,
  type ZdrFamily,
} from '../../ports/guardrails.ts';

/** The schema of a guardrail in the configuration file. Members are named as in the management API. */

const MAX_NAMES = 1000;

const flag = nullish(Type.Boolean());

const text = (maxLength: number, minLength = 1) => Type.String({ minLength, maxLength });

const list = <T extends TSchema>(item: T, maxItems: number) =>
  nullish(Type.Array(item, { minItems: 1, maxItems }));

const names = list(text(256), MAX_NAMES);

const action = oneOf(FILTER_ACTIONS);

export const guardrail = closed({
  name: text(200),
  description: nullish(text(1000)),
  default: flag,
  keys: names,
  members: names,
  limit_usd: nullish(Type.Number({ minimum: 0, maximum: MAX_USD })),
  reset_interval: nullish(oneOf(RESET_WINDOWS)),
  include_byok_in_budgets: flag,
  allowed_providers: names,
  ignored_providers: names,
  allowed_models: names,
  ignored_models: names,
  ...(Object.fromEntries(ZDR_FAMILIES.map((family) => [`enforce_zdr_${family}`, flag])) as Record<
    `enforce_zdr_${ZdrFamily}`,
    typeof flag
  >),
  enable_paid_model_training: flag,
  enable_free_model_training: flag,
  enable_free_model_publication: flag,
  allowed_data_regions: list(oneOf(DATA_REGIONS), DATA_REGIONS.length),
  content_filter_builtins: list(
    closed({ slug: oneOf(BUILTIN_SLUGS), action, scan_scope: Type.Optional(oneOf(SCAN_SCOPES)) }),
    BUILTIN_SLUGS.length,
  ),
  content_filters: list(closed({ pattern: text(100_000), action, label: nullish(text(100)) }), 200),
  service: nullish(
    closed({
      url: Type.String({
        pattern: '^https?://[^\\s/@]+(?:[/?][^\\s]*)?$',
        maxLength: 2048,
        explain: 'must be an http or https address without a user name',
      }),
      timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SERVICE_TIMEOUT_MS, unit: 'ms' })),
      retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
      on_failure: Type.Optional(oneOf(['closed', 'open'])),
      window_characters: nullish(Type.Integer({ minimum: 1, maximum: 100_000 })),
    }),
  ),
});
