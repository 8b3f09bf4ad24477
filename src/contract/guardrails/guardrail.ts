import Type, { type Static } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { RESET_WINDOWS } from '../../kit/time/windows.ts';
import {
  BUILTIN_SLUGS,
  DATA_REGIONS,
  FILTER_ACTIONS,
  MAX_SERVICE_TIMEOUT_MS,
  SCAN_SCOPES,
} from '../../ports/tenancy/guardrails.ts';
import { allWorkspaces } from '../values/all-workspaces.ts';
import { managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { readableText, storableText } from '../values/readable-text.ts';
import { uuid } from '../values/uuid.ts';

const MAX_NAME_CHARACTERS = 200;
const MAX_DESCRIPTION_CHARACTERS = 1000;
const MAX_LABEL_CHARACTERS = 100;
const MAX_PATTERN_CHARACTERS = 100_000;
const MAX_URL_CHARACTERS = 2048;
const MAX_LIST_ENTRIES = 1000;
const MAX_CUSTOM_FILTERS = 200;

/** How long a service may take and how often it is called again, unless a guardrail says otherwise. */
export const SERVICE_DEFAULTS = {
  timeoutMs: 2000,
  retries: 1,
  onFailure: 'closed',
  windowCharacters: null,
} as const;

const name = readableText(MAX_NAME_CHARACTERS);

function list(description: string) {
  return Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: MAX_LIST_ENTRIES }),
      { description },
    ),
  );
}

function flag(description: string) {
  return Type.Optional(nullable(Type.Boolean(), { description }));
}

const family = (models: string) =>
  flag(`Whether ${models} are served only by endpoints that retain nothing; null = not said.`);

const action = oneOf(FILTER_ACTIONS, {
  description: 'What happens to a match: the request is refused, the match is replaced, or it is only noted.',
});

const builtin = closed({
  slug: oneOf(BUILTIN_SLUGS, {
    description: '`person-name` and `address` need `guardrails.presidio_url` in the configuration.',
  }),
  action,
  scan_scope: Type.Optional(
    oneOf(SCAN_SCOPES, {
      description: 'For `regex-prompt-injection` only: the messages that are read; all without it.',
    }),
  ),
  label: Type.Optional(Type.Unknown({ description: 'Ignored: built-in filters have labels of their own.' })),
});

const customFilter = closed({
  pattern: Type.String({
    minLength: 1,
    maxLength: MAX_PATTERN_CHARACTERS,
    description: 'A regular expression without lookaround and backreferences; searched in linear time.',
  }),
  action,
  label: nullish(
    readableText(MAX_LABEL_CHARACTERS, { description: 'Names the match, and replaces it when redacted.' }),
  ),
});

const service = closed({
  url: Type.String({
    pattern: '^https?://[^\\s/@]+(?:[/?][^\\s]*)?$',
    maxLength: MAX_URL_CHARACTERS,
    explain: 'must be an http or https address without a user name',
    description: 'An HTTP service of your own that judges texts.',
  }),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_SERVICE_TIMEOUT_MS,
      description: `For all tries together; ${SERVICE_DEFAULTS.timeoutMs} without it.`,
    }),
  ),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 5,
      description: `Further tries after a failure; ${SERVICE_DEFAULTS.retries} without it.`,
    }),
  ),
  on_failure: Type.Optional(
    oneOf(['closed', 'open'], {
      description: '`closed`, as without it: requests are refused while the service gives no verdict.',
    }),
  ),
  window_characters: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 100_000 }), {
      description:
        'Characters of an answer that are judged at a time; null, as without it: the whole answer at once.',
    }),
  ),
});

/** Members of a guardrail that judge texts. */
export const FILTER_MEMBERS = {
  content_filter_builtins: Type.Optional(nullable(Type.Array(builtin, { maxItems: BUILTIN_SLUGS.length }))),
  content_filters: Type.Optional(nullable(Type.Array(customFilter, { maxItems: MAX_CUSTOM_FILTERS }))),
  service: Type.Optional(nullable(service)),
};

/** Settings of a guardrail that can be set at its creation and changed later, besides its name. */
const changeable = {
  description: nullish(storableText(MAX_DESCRIPTION_CHARACTERS)),
  limit_usd: Type.Optional(
    nullable(Type.Number({ minimum: 0, maximum: MAX_USD }), {
      description: 'The most that each key and each member under it may spend, USD; null = no limit.',
    }),
  ),
  reset_interval: Type.Optional(
    nullable(oneOf(RESET_WINDOWS), { description: 'When the limit resets (UTC); null = never.' }),
  ),
  include_byok_in_budgets: Type.Optional(
    Type.Boolean({ description: 'What BYOK credentials served counts towards the limit.' }),
  ),
  allowed_providers: list('Slugs of the only providers that may serve; null = all.'),
  ignored_providers: list('Slugs of providers that may not serve.'),
  allowed_models: list('The only models that may be used, by id or canonical slug; null = all.'),
  ignored_models: list('Models that may not be used, by id or canonical slug.'),
  enforce_zdr: flag('Deprecated: sets those `enforce_zdr_*` that are not given.'),
  enforce_zdr_anthropic: family('models of Anthropic'),
  enforce_zdr_openai: family('models of OpenAI'),
  enforce_zdr_google: family('models of Google'),
  enforce_zdr_xai: family('models of xAI'),
  enforce_zdr_other: family('all other models'),
  enable_paid_model_training: flag('False: paid endpoints that may train on prompts do not serve.'),
  enable_free_model_training: flag('False: free endpoints that may train on prompts do not serve.'),
  enable_free_model_publication: flag('False: free endpoints that may publish prompts do not serve.'),
  allowed_data_regions: Type.Optional(
    nullable(Type.Array(oneOf(DATA_REGIONS), { minItems: 1, maxItems: DATA_REGIONS.length }), {
      description:
        'Regions of the endpoints that may serve; those bound to no region are `global`. Null = all.',
    }),
  ),
  ...FILTER_MEMBERS,
};

export const createGuardrailSchema = closed({
  name,
  workspace_id: Type.Optional({
    ...uuid,
    description: 'Where it is listed; the default workspace without it.',
  }),
  ...changeable,
});

export type CreateGuardrail = Static<typeof createGuardrailSchema>;

/** Body of `PATCH /guardrails/{id}`: absent members stay unchanged. */
export const updateGuardrailSchema = closed({ name: Type.Optional(name), ...changeable });

export type UpdateGuardrail = Static<typeof updateGuardrailSchema>;

export const pageQuery = {
  offset: nullish(Type.Integer({ minimum: 0, description: 'Entries to skip.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; 50 without it.' })),
};

export const guardrailsQuerySchema = Type.Object({
  ...pageQuery,
  workspace_id: Type.Optional(uuid),
  all_workspaces: nullish(allWorkspaces),
  include_assigned_counts: nullish(
    Type.Boolean({ description: 'Adds `assigned_keys` and `assigned_members` to every guardrail.' }),
  ),
});

export type GuardrailsQuery = Static<typeof guardrailsQuerySchema>;

const names = nullable(Type.Array(Type.String()));
const truth = nullable(Type.Boolean());

const DEFAULT_SCOPES = ['account', 'workspace'] as const;

function assigned(subjects: string) {
  return Type.Optional(
    Type.Integer({
      description: `${subjects} that it is assigned to. Only in lists with \`include_assigned_counts\`.`,
    }),
  );
}

export const guardrailSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    description: nullable(Type.String()),
    workspace_id: Type.String({ format: 'uuid' }),
    limit_usd: nullable(Type.Number()),
    reset_interval: nullable(oneOf(RESET_WINDOWS)),
    include_byok_in_budgets: Type.Boolean(),
    allowed_providers: names,
    ignored_providers: names,
    allowed_models: nullable(Type.Array(Type.String()), { description: 'Canonical slugs.' }),
    ignored_models: nullable(Type.Array(Type.String()), { description: 'Canonical slugs.' }),
    enforce_zdr: nullable(Type.Boolean(), {
      description: 'Deprecated: the value of the five `enforce_zdr_*` if it is the same; else null.',
    }),
    enforce_zdr_anthropic: truth,
    enforce_zdr_openai: truth,
    enforce_zdr_google: truth,
    enforce_zdr_xai: truth,
    enforce_zdr_other: truth,
    enable_paid_model_training: truth,
    enable_free_model_training: truth,
    enable_free_model_publication: truth,
    allowed_data_regions: nullable(Type.Array(oneOf(DATA_REGIONS))),
    content_filter_builtins: nullable(
      Type.Array(
        Type.Object({
          slug: oneOf(BUILTIN_SLUGS),
          action: oneOf(FILTER_ACTIONS),
          label: Type.String({ description: 'What replaces a match.' }),
          scan_scope: Type.Optional(oneOf(SCAN_SCOPES)),
        }),
      ),
    ),
    content_filters: nullable(
      Type.Array(
        Type.Object({
          pattern: Type.String(),
          action: oneOf(FILTER_ACTIONS),
          label: nullable(Type.String()),
        }),
      ),
    ),
    service: nullable(
      Type.Object({
        url: Type.String(),
        timeout_ms: Type.Integer(),
        retries: Type.Integer(),
        on_failure: oneOf(['closed', 'open']),
        window_characters: nullable(Type.Integer()),
      }),
    ),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: nullable(Type.String({ format: 'date-time' })),
    default_of: nullable(oneOf(DEFAULT_SCOPES), {
      description:
        'Whose default guardrail it is: it applies to all keys there. Null = only to what it is assigned to.',
    }),
    assigned_keys: assigned('Keys'),
    assigned_members: assigned('Members'),
    managed_by: managedBySchema,
  },
  { description: 'Rules for the requests and answers of keys, members, a workspace or the account.' },
);

export type GuardrailObject = Static<typeof guardrailSchema>;

export const guardrailReplySchema = Type.Object({ data: guardrailSchema });

export const guardrailListSchema = Type.Object({
  data: Type.Array(guardrailSchema),
  total_count: Type.Integer({ description: 'All that match, on every page.' }),
});
