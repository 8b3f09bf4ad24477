import Type, { type TSchema } from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { type LimitWindow, RESET_WINDOWS } from '../../kit/time/windows.ts';
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
const MAX_A_MINUTE = 1_000_000_000_000;

const flag = nullish(Type.Boolean());

const list = <T extends TSchema>(item: T, minItems = 0) =>
  nullish(Type.Array(item, { minItems, maxItems: MAX_LIST_ENTRIES }));

const words = Type.String({ minLength: 1, maxLength: 256 });

const key = closed({
  name: described('Name of the key.', readable(255)),
  hash: described('SHA-256 of the key, hex. Either this or secret.', nullish(keyHash)),
  secret: described(
    'The key itself, from the environment. Only its hash is stored.',
    nullish(
      Type.String({
        pattern: '^[\\x21-\\x7e]{16,512}$',
        explain: 'must be 16 to 512 printable characters without spaces',
      }),
    ),
  ),
  limit: described(
    'The most that the key may spend, USD; absent: no limit.',
    nullish(Type.Number({ minimum: 0, maximum: MAX_USD })),
  ),
  limit_reset: described('When the limit is reset (UTC); absent: never.', nullish(oneOf(RESET_WINDOWS))),
  include_byok_in_limit: described(
    'Whether usage on BYOK credentials counts towards the limit; absent: no.',
    flag,
  ),
  allowed_models: described(
    'The only models that the key may use, by id or alias; absent: all.',
    nullish(Type.Array(words, { minItems: 1, maxItems: MAX_ENTRIES })),
  ),
  requests_per_minute: described(
    'Requests a minute of this key, in place of limits.per_key; absent or 0: as there.',
    nullish(Type.Integer({ minimum: 0, maximum: MAX_A_MINUTE })),
  ),
  tokens_per_minute: described(
    'Tokens a minute of this key, in place of limits.per_key; absent or 0: as there.',
    nullish(Type.Integer({ minimum: 0, maximum: MAX_A_MINUTE })),
  ),
  disabled: described('Whether the key is refused; absent: no.', flag),
  expires_at: described(
    'From when on the key is refused, UTC; absent: never.',
    nullish(
      Type.String({
        pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|\\+00:00)$',
        explain: 'must be a moment in UTC such as 2030-01-31T12:00:00Z',
      }),
    ),
  ),
  creator_user_id: described(
    'The user of the key, for analytics and allowed_user_ids.',
    nullish(readable(256)),
  ),
});

const credential = closed({
  provider: described('Slug of the provider.', providerSlug),
  name: described('Name of the credential. Tells those of one provider apart.', nullish(readable(255))),
  api_key: described(
    'The credential, from the environment. Stored encrypted.',
    Type.String({ minLength: 1, maxLength: 65_536 }),
  ),
  disabled: described('Whether the credential is not used; absent: it is used.', flag),
  is_fallback: described('Whether it is tried only after the shared endpoints; absent: no.', flag),
  is_required: described(
    'Whether shared endpoints of the provider are not used for the models that it covers; absent: they are.',
    flag,
  ),
  is_byok_only: described(
    'Whether shared endpoints of the provider are not used at all; absent: they are.',
    flag,
  ),
  declared_zdr: described('Whether nothing is retained behind it; absent: as the provider says.', flag),
  allowed_models: described('Ids of the models that it is for; absent: all.', list(words)),
  allowed_user_ids: described('Users (creator_user_id of the key) who may use it; absent: all.', list(words)),
  allowed_api_key_hashes: described('Hashes of the keys that may use it; absent: all.', list(keyHash, 1)),
});

const budget = nullish(Type.Number({ exclusiveMinimum: 0, maximum: MAX_USD }));

const budgetsByWindow = {
  daily: described('The most that the workspace may spend in a day (UTC).', budget),
  weekly: described('The most that the workspace may spend in a week, from Monday (UTC).', budget),
  monthly: described('The most that the workspace may spend in a month (UTC).', budget),
  lifetime: described('The most that the workspace may spend ever.', budget),
} satisfies Record<LimitWindow, TSchema>;

const budgets = closed({
  ...budgetsByWindow,
  include_byok_in_budgets: described(
    'Whether usage on BYOK credentials counts towards the budgets; absent: no.',
    flag,
  ),
});

export const workspace = closed({
  slug: described(
    'Identifies the workspace: another slug is another workspace.',
    Type.String({
      maxLength: 50,
      pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      explain: 'must be 1 to 50 lower-case letters and digits, with single hyphens between them',
    }),
  ),
  name: described(
    'Display name; absent: the slug, or the name that the workspace has already.',
    nullish(readable(100)),
  ),
  description: described('A text for people.', nullish(Type.String({ maxLength: 500 }))),
  default_text_model: described('The model of requests that name none.', nullish(readable(256))),
  default_provider_sort: described(
    'provider.sort of requests that give neither sort nor order.',
    nullish(oneOf(['price', 'throughput', 'latency', 'exacto'])),
  ),
  is_observability_io_logging_enabled: described(
    'Whether prompts and outputs of requests are stored; absent: no.',
    flag,
  ),
  is_observability_broadcast_enabled: described(
    'Whether destinations of the workspace are sent its generations; absent: yes if it has destinations here.',
    flag,
  ),
  io_logging_sampling_rate: described(
    'Share of the requests that are stored; absent: 1.',
    nullish(Type.Number({ minimum: 0.0001, maximum: 1 })),
  ),
  budgets: described(
    'All budgets of the workspace, USD; absent: budgets are set by the API or by commands.',
    nullish(budgets),
  ),
  keys: described(
    'API keys. Other keys of the workspace are not touched.',
    nullish(Type.Array(key, { maxItems: MAX_ENTRIES })),
  ),
  byok: described(
    'BYOK credentials. Other credentials of the workspace are not touched.',
    nullish(Type.Array(credential, { maxItems: MAX_LIST_ENTRIES })),
  ),
  guardrails: described(
    'Guardrails, with what they are assigned to. Others of the workspace are not touched.',
    nullish(Type.Array(guardrail, { maxItems: MAX_LIST_ENTRIES })),
  ),
  destinations: described(
    'Where generations are sent as traces. Others of the workspace are not touched; at most 5 of a type, with those.',
    nullish(Type.Array(destination, { maxItems: MAX_LIST_ENTRIES })),
  ),
  classifiers: described(
    'What tags generations after their answers. Others of the workspace are not touched; at most one is active, with those.',
    nullish(Type.Array(classifier, { maxItems: MAX_LIST_ENTRIES })),
  ),
});
