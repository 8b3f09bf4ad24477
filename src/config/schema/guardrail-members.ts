import Type, { type TSchema } from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { RESET_WINDOWS } from '../../kit/time/windows.ts';
import {
  BUILTIN_SLUGS,
  DATA_REGIONS,
  FILTER_ACTIONS,
  MAX_SERVICE_TIMEOUT_MS,
  SCAN_SCOPES,
  type ZdrFamily,
} from '../../ports/tenancy/guardrails.ts';

/** The schema of a guardrail in the configuration file. Members are named as in the management API. */

const MAX_NAMES = 1000;

const flag = nullish(Type.Boolean());

const text = (maxLength: number, minLength = 1) => Type.String({ minLength, maxLength });

const list = <T extends TSchema>(item: T, maxItems: number) =>
  nullish(Type.Array(item, { minItems: 1, maxItems }));

const names = list(text(256), MAX_NAMES);

const action = oneOf(FILTER_ACTIONS);

const zeroRetention = {
  enforce_zdr_anthropic: described('Whether models of Anthropic need zero retention.', flag),
  enforce_zdr_openai: described('Whether models of OpenAI need zero retention.', flag),
  enforce_zdr_google: described('Whether models of Google need zero retention.', flag),
  enforce_zdr_xai: described('Whether models of xAI need zero retention.', flag),
  enforce_zdr_other: described('Whether all other models need zero retention.', flag),
} satisfies Record<`enforce_zdr_${ZdrFamily}`, TSchema>;

export const guardrail = closed({
  name: described('Name of the guardrail. Tells those of a workspace apart.', text(200)),
  description: described('A text for people.', nullish(text(1000))),
  default: described('Whether it applies to all keys of the workspace; absent: no.', flag),
  keys: described('Keys that it applies to: hashes, or names of keys of this workspace in the file.', names),
  members: described('Members (creator_user_id of keys) whose keys it applies to.', names),
  limit_usd: described(
    'The most that each key and each member under it may spend; absent: no limit.',
    nullish(Type.Number({ minimum: 0, maximum: MAX_USD })),
  ),
  reset_interval: described('When the limit is reset (UTC); absent: never.', nullish(oneOf(RESET_WINDOWS))),
  include_byok_in_budgets: described(
    'Whether usage on BYOK credentials counts towards the limit; absent: no.',
    flag,
  ),
  allowed_providers: described('Slugs of the only providers that may serve; absent: all.', names),
  ignored_providers: described('Slugs of providers that may not serve.', names),
  allowed_models: described('The only models that may be used; absent: all.', names),
  ignored_models: described('Models that may not be used.', names),
  ...zeroRetention,
  enable_paid_model_training: described(
    'Whether paid endpoints that may train on prompts may serve; absent: yes.',
    flag,
  ),
  enable_free_model_training: described(
    'Whether free endpoints that may train on prompts may serve; absent: yes.',
    flag,
  ),
  enable_free_model_publication: described(
    'Whether free endpoints that may publish prompts may serve; absent: yes.',
    flag,
  ),
  allowed_data_regions: described(
    'Regions of the endpoints that may serve; absent: all.',
    list(oneOf(DATA_REGIONS), DATA_REGIONS.length),
  ),
  content_filter_builtins: described(
    'Filters that the gateway brings along.',
    list(
      closed({
        slug: described('Which filter.', oneOf(BUILTIN_SLUGS)),
        action: described('What happens to a match.', action),
        scan_scope: described(
          'For regex-prompt-injection: the messages that are read; absent: all.',
          Type.Optional(oneOf(SCAN_SCOPES)),
        ),
      }),
      BUILTIN_SLUGS.length,
    ),
  ),
  content_filters: described(
    'Filters by regular expressions of your own.',
    list(
      closed({
        pattern: described('The regular expression, without lookaround and backreferences.', text(100_000)),
        action: described('What happens to a match.', action),
        label: described('Names the match, and replaces it when redacted.', nullish(text(100))),
      }),
      200,
    ),
  ),
  service: described(
    'An HTTP service of your own that judges texts.',
    nullish(
      closed({
        url: described(
          'Its address.',
          Type.String({
            pattern: '^https?://[^\\s/@]+(?:[/?][^\\s]*)?$',
            maxLength: 2048,
            explain: 'must be an http or https address without a user name',
          }),
        ),
        timeout_ms: described(
          'Time for all tries together; absent: 2s.',
          Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SERVICE_TIMEOUT_MS, unit: 'ms' })),
        ),
        retries: described(
          'Further tries after a failure; absent: 1.',
          Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
        ),
        on_failure: described(
          'Whether requests are refused (closed) or pass (open) while it gives no verdict; absent: closed.',
          Type.Optional(oneOf(['closed', 'open'])),
        ),
        window_characters: described(
          'An answer is judged in pieces of at least this many characters; absent: the whole answer at once.',
          nullish(Type.Integer({ minimum: 1, maximum: 100_000 })),
        ),
      }),
    ),
  ),
});
