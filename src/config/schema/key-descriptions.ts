import type { PriceName } from './price-names.ts';

/** Meaning of each price. */
export const PRICE_DESCRIPTIONS: Readonly<Record<PriceName, string>> = {
  prompt: 'Price of a prompt token that is neither read from a cache nor written to one.',
  completion: 'Price of a completion token that has no price of its own.',
  request: 'Price of a request.',
  image: 'Price of an image in the prompt.',
  image_token: 'Price of a token of an image in the prompt; absent: the price of prompt.',
  image_output: 'Price of a token of an image in the answer, in place of completion.',
  audio: 'Price of a token of audio in the prompt; absent: the price of prompt.',
  audio_output: 'Price of a token of audio in the answer; absent: the price of completion.',
  input_audio_cache:
    'Price of a token of audio that is read from a cache; absent: the price of input_cache_read.',
  input_cache_read: 'Price of a prompt token that is read from a cache; absent: the price of prompt.',
  input_cache_write: 'Price of a prompt token that is written to a cache; absent: the price of prompt.',
  input_cache_write_1h:
    'Price of a prompt token that is written to a cache for an hour or twelve; absent: input_cache_write.',
  internal_reasoning: 'Price of a reasoning token, in place of completion.',
  web_search:
    'Price of a web search by the upstream, or by an engine of the gateway that has none of its own.',
  x_search: 'Price of a search of X by the upstream.',
  file_search: "Price of a search of the provider's files by the upstream.",
  code_execution:
    'Price of a container in which the upstream runs code, for each gigabyte; of a run, where runs are billed.',
  image_generation: 'Price of an output token of a picture that a tool of the upstream makes.',
  image_generation_input: 'Price of an input token of such a picture.',
  discount: 'Refused: take it off the prices instead.',
};

/** The keys of a list of prices. */
function pricesAt(path: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(PRICE_DESCRIPTIONS).map(([name, description]) => [`${path}.${name}`, description]),
  );
}

function pricingAt(path: string): Record<string, string> {
  return {
    ...pricesAt(path),
    [`${path}.overrides`]:
      'Prices of long prompts. Later ones win; names that are left out keep their price.',
    [`${path}.overrides[].min_prompt_tokens`]: 'Prompts of at least this many tokens have these prices.',
    ...pricesAt(`${path}.overrides[]`),
  };
}

function fusionPresetAt(path: string, word: string): Record<string, string> {
  return {
    [path]: `Panel and judge of the ${word} preset.`,
    [`${path}.panel`]: 'Models that answer, 1 to 8.',
    [`${path}.judge`]: 'Model that compares their answers; the first of the panel if left out.',
  };
}

/**
 * Meaning of each key of the configuration file, by path: `[]` is any item of a list, `*` any name. Editors show the
 * texts (`signalbox schema`), and the guide's page of keys is made from them.
 */
export const KEY_DESCRIPTIONS: Readonly<Record<string, string>> = {
  vendor:
    'The word in headers, fields and model ids of the gateway: X-Signalbox-Metadata, signalbox_metadata, ' +
    'signalbox/auto.',

  server: 'How the gateway listens and reads requests. Host and port are flags or environment variables.',
  'server.base_path': 'Path under which the API answers. It answers under /v1 too.',
  'server.max_body_bytes': 'Largest request body. A larger one gets a 413.',
  'server.request_deadline_ms': 'Longest time that a request may take. After it the caller gets a 408.',
  'server.region': 'Name of this installation in routing metadata.',
  'server.workers':
    'Serving processes on the port; `auto`: one for each core, within the CPU quota. `--workers` has precedence.',
  'server.tls':
    'Certificate with which the gateway serves HTTPS; absent: plain HTTP. A change of the names needs a restart.',
  'server.tls.cert':
    'PEM file of the certificate and its chain. Relative names begin at the folder of this file. Read again when it changes.',
  'server.tls.key': 'PEM file of its private key, without a passphrase. Read again when it changes.',
  'server.trusted_proxies': 'Addresses or ranges (10.0.0.0/8) of proxies whose X-Forwarded-For is believed.',
  'server.cors': 'Calls from web pages.',
  'server.cors.origins':
    'Origins of the pages that may call with a key: https://app.example.com, or "*" for any.',

  providers:
    'Companies and servers that run models. A provider of the built-in table needs only its slug and a key. ' +
    'If the list is empty, the simulator and the providers whose keys are in the environment serve.',
  'providers[].slug': 'Name of the provider in this file, in routing preferences and in the log.',
  'providers[].name': 'Name for display; absent: that of the built-in table, or the slug.',
  'providers[].dialect': 'Wire format that the provider speaks; absent: that of the built-in table.',
  'providers[].base_url':
    "Address before the dialect's own path, such as http://127.0.0.1:9101/v1; absent: that of the built-in table.",
  'providers[].api_key': `Credential: a plain key, or JSON for Bedrock, Vertex and Azure. \${NAME} reads it from the environment.`,
  'providers[].headers': 'Headers that are added to each call.',
  'providers[].headers.*': 'Value of the header.',
  'providers[].unpriced':
    'Tools that it runs and has no price for, for keys that a limit covers: allow or refuse; absent: refuse.',
  'providers[].data_policy':
    'What the provider does with prompts; absent: that of the built-in table, else taken as training and keeping.',
  'providers[].data_policy.training': 'Whether it trains on prompts.',
  'providers[].data_policy.retains_prompts': 'Whether it keeps prompts.',
  'providers[].takes':
    'What it takes of anthropic-messages that not every server of the dialect knows; absent: as the built-in table says.',
  'providers[].takes.system_turns':
    'Whether it takes messages of the role `system` inside `messages`, with `clear_at`. If not, they go out as user text.',
  'providers[].takes.callers_version':
    'Whether it gets the `anthropic-version` that the caller names. If not, it gets 2023-06-01.',
  'providers[].timeouts_ms': 'Time limits of one call to the provider.',
  'providers[].timeouts_ms.connect': 'Until the connection is open.',
  'providers[].timeouts_ms.first_byte':
    'From the request until the first byte of a stream. Models with reasoning and whole answers have `total`.',
  'providers[].timeouts_ms.idle': 'Between two pieces of the answer.',
  'providers[].timeouts_ms.total': 'For the whole call.',

  models:
    'Models that the shipped catalogue lacks, and what differs from it. ' +
    'A member that is left out keeps the value of the catalogue.',
  'models[].id': 'Name that callers use, such as acme/large.',
  'models[].name': 'Name for display.',
  'models[].created': 'Day of release.',
  'models[].knowledge_cutoff': 'Day or month of the end of its training data.',
  'models[].context_length': 'Most tokens of prompt and answer together.',
  'models[].max_output_tokens': 'Most tokens of an answer.',
  'models[].input_modalities': 'Kinds of content that a prompt may hold.',
  'models[].output_modalities': 'Kinds of content that an answer holds; [embeddings] for POST /embeddings.',
  'models[].aliases': 'Other names that callers may use.',
  'models[].quality': 'Scores that the routers compare, 0 to 1.',
  'models[].quality.general': 'Score for general questions.',
  'models[].quality.coding': 'Score for code.',
  'models[].reasoning':
    'Whether and how the model reasons; absent: unknown, settings are passed on as the dialect has them.',
  'models[].reasoning.mandatory': 'Whether reasoning cannot be switched off.',
  'models[].reasoning.default_enabled':
    'Whether the model reasons by itself if a request does not say. Shown to callers, not sent to the provider.',
  'models[].reasoning.default_effort':
    'Its own effort if a request does not say. Shown to callers, not sent.',
  'models[].reasoning.supported_efforts':
    'Efforts that it takes; absent: unknown, all that the dialect has are passed on.',
  'models[].reasoning.supports_max_tokens': 'Whether it takes a budget in tokens.',
  'models[].distillable': 'Whether its answers may be used to train other models.',
  'models[].endpoints':
    'Where the model is served: a provider each, with its name of the model, limits and prices.',
  'models[].endpoints[].provider': 'Slug of the provider.',
  'models[].endpoints[].model': "The provider's own name of the model; absent: the id.",
  'models[].endpoints[].tag':
    'Name of the endpoint in routing preferences, such as acme/turbo; absent: the slug of the provider.',
  'models[].endpoints[].quantization': 'Number format of the weights.',
  'models[].endpoints[].context_length': 'Most tokens of prompt and answer here; absent: that of the model.',
  'models[].endpoints[].max_output_tokens': 'Most tokens of an answer here; absent: that of the model.',
  'models[].endpoints[].max_inputs':
    'Inputs of embeddings that one call takes. Larger requests are split; absent: as many as its dialect takes.',
  'models[].endpoints[].max_messages':
    'Messages that one prompt may have here. Context compression leaves out the middle of longer ones; absent: any number.',
  'models[].endpoints[].decisions':
    'The upstream answers decisions itself, in this form: openai at /decisions, system-one at /systemone. More: [Decisions](decisions.md).',
  'models[].endpoints[].supported_parameters':
    'Request parameters that the endpoint honours; absent: all of its dialect.',
  'models[].endpoints[].pricing':
    'Prices in USD of one unit, exact decimals in quotes; or for a million: prompt_per_million: 1.25.',
  ...pricingAt('models[].endpoints[].pricing'),
  'models[].endpoints[].unpriced': 'The same for one endpoint; absent: as its provider says.',
  'models[].endpoints[].prices': 'Prices that begin on a later day, oldest first; until then pricing holds.',
  'models[].endpoints[].prices[].from': 'Day, or moment in UTC, from which these prices hold.',
  'models[].endpoints[].prices[].pricing': 'Prices from then on. All of them: none is taken from before.',
  ...pricingAt('models[].endpoints[].prices[].pricing'),

  limits: 'Limits that protect the gateway.',
  'limits.max_concurrent_requests': 'Generations in flight. Above it the caller gets a 503.',
  'limits.large_bodies_bytes':
    'Memory for all large bodies and answers together. null: half of what the process may take.',
  'limits.per_key':
    'Limits of each key on generations and files, counted by key. Above one the caller gets a 429 with Retry-After.',
  'limits.per_key.requests_per_minute': 'Requests of a key in a minute; null: no limit.',
  'limits.per_key.requests_per_day': 'Requests of a key in a day (UTC); null: no limit.',
  'limits.per_key.tokens_per_minute':
    'Tokens of a key in a minute, of prompts and completions; null: no limit. A generation counts when it has ended.',
  'limits.per_key.tokens_per_day': 'Tokens of a key in a day (UTC), counted alike; null: no limit.',
  'limits.files': 'How much may be stored as files. Uploads beyond it are refused; what is stored stays.',
  'limits.files.per_key': 'Files that one key has stored, with management keys.',
  'limits.files.per_key.max_bytes': 'Their size, together; null: no limit.',
  'limits.files.per_key.max_files': 'Their number; null: no limit.',
  'limits.files.per_workspace': 'Files of one workspace.',
  'limits.files.per_workspace.max_bytes': 'Their size, together; null: no limit.',
  'limits.files.per_workspace.max_files': 'Their number; null: no limit.',
  'limits.files.per_account': 'Files of all workspaces of an account.',
  'limits.files.per_account.max_bytes': 'Their size, together; null: no limit.',
  'limits.files.per_account.max_files': 'Their number; null: no limit.',
  'limits.files.min_free_disk_bytes':
    'Free disk below which uploads are refused, if files are in the data directory; 0: none. The journal needs the rest.',
  'limits.analytics_per_minute': 'Analytics requests of a key in a minute.',
  'limits.datasets': 'Limits of the datasets routes.',
  'limits.datasets.per_minute': 'Requests of a key in a minute.',
  'limits.datasets.per_day': 'Requests of an account in a day (UTC).',

  credits: 'Balances of accounts.',
  'credits.initial_usd': 'Balance of a new account in USD; null: spending is counted and nothing is refused.',
  byok: 'Calls with credentials that accounts bring.',
  'byok.fee': 'Share of the list price, 0 to 1, that such a call costs the account.',

  routing: 'Attempts, stickiness and cool-downs.',
  'routing.attempts_per_model': 'Endpoints that a request tries for one model.',
  'routing.attempts_per_request': 'Upstream calls that a request makes at most.',
  'routing.sticky_idle_ms':
    'How long a conversation without a success is remembered where it was served last, for its prompt cache.',
  'routing.cooldown': 'When a failing endpoint is tried last, and for how long.',
  'routing.cooldown.failures': 'Failures in a row that begin a cool-down.',
  'routing.cooldown.base_ms':
    'Length of the first cool-down; the next is twice as long, the one after it three times, and each up to a fifth ' +
    'longer by chance.',
  'routing.cooldown.max_ms': 'Length of the longest cool-down.',

  durability: 'What survives a crash.',
  'durability.ledger':
    'power: the record of an answer is synced to the disk before the answer ends. ' +
    'process: it is only written, so that a power loss may lose the last ones.',
  'durability.checkpoint_ms': 'Longest time between something new in a stream and its checkpoint.',
  storage: 'Where uploaded files, and stored prompts and answers, are. Absent: in the data directory.',
  'storage.s3': 'A bucket of an S3-compatible service, which several gateways can share.',
  'storage.s3.endpoint': 'Scheme, host and port of the service. Absent: that of AWS for the region.',
  'storage.s3.region': 'Region that requests are signed for. Absent: us-east-1.',
  'storage.s3.bucket': 'Name of the bucket, which must exist.',
  'storage.s3.prefix': 'Begins the name of every object, such as signalbox/. Absent: nothing.',
  'storage.s3.access_key_id': 'Id of the access key.',
  'storage.s3.secret_access_key': 'Secret of the access key.',
  'storage.s3.session_token': 'Token of a temporary access key.',
  'storage.s3.path_style':
    'true or absent: the bucket is the first part of the path. false: it is the first part of the host.',
  ledger: 'How money is reserved in a shared PostgreSQL database.',
  'ledger.slices':
    'Money that a gateway reserves ahead for a key that is used often, so that not every request needs the ' +
    'database, and none for some seconds while it is away.',
  'ledger.slices.max_usd':
    'Up to how much a gateway fills what it holds ahead for one key; 0: nothing. What requests do not use comes back ' +
    'on top of it.',
  'ledger.slices.max_share':
    'The same as a share of what is left of the tightest limit, budget or balance, from 0 to 1.',
  retention: 'How long data are kept.',
  'retention.events_days': 'Records of generations, and the events that analytics count. Daily sums stay.',
  'retention.events_backlog_bytes':
    'Most bytes of the journal that are kept for events that cannot be stored. Above it they are read from records later.',
  'retention.content_days': 'Stored prompts and answers.',
  'retention.content_bytes': 'Largest size of stored prompts and answers. Above it the oldest are removed.',
  'retention.output_items_bytes':
    'Memory for output items that later requests refer to. Above it the least recently used are forgotten; 0: none.',
  drain_ms: 'How long open requests may take to finish after SIGTERM.',
  drain_grace_ms:
    'How long a gateway still serves what comes after SIGTERM, while /readyz says that it is not ready. Null: 2 s with a shared database, otherwise 0.',
  keys: 'Secrets of new keys.',
  'keys.prefix': 'How the secrets of new keys begin.',

  prompts: 'Templates for the prompt field of /responses, by id.',
  'prompts.*': 'A template; {{name}} is replaced by a variable of the request.',
  'prompts.*.instructions': 'System instructions.',
  'prompts.*.input': 'Text of the user.',
  apps: 'Apps in rankings.',
  'apps.hidden': 'Hosts of apps that rankings leave out; *.example.com stands for any name before the rest.',
  guardrails: 'Services that guardrails use.',
  'guardrails.presidio_url':
    'Base address of a Presidio-compatible analyzer, which finds names and addresses of people; absent: none.',
  egress:
    'Addresses that callers name: pages, files, services of guardrails, the endpoint_url of a BYOK credential.',
  'egress.allow': 'Hosts, addresses or ranges that may be called although they are private.',

  plugins: 'Settings of routers and plugins.',
  'plugins.auto-router': 'The router signalbox/auto.',
  'plugins.auto-router.models': 'Patterns of the model ids that it may choose, such as acme/*; absent: all.',
  'plugins.fusion':
    'Models of fusion: several answer, one compares their answers. What is left out is chosen.',
  'plugins.fusion.panel': 'Models that answer, 1 to 8.',
  'plugins.fusion.judge': 'Model that compares their answers. It is the one behind signalbox/fusion.',
  'plugins.fusion.presets': 'Panels and judges by the name that a request gives.',
  ...fusionPresetAt('plugins.fusion.presets.general-high', 'best'),
  ...fusionPresetAt('plugins.fusion.presets.general-budget', 'cheapest'),
  ...fusionPresetAt('plugins.fusion.presets.general-fast', 'fastest'),
  'plugins.web': 'Web search.',
  'plugins.web.engines':
    'Search engines by name: exa, tavily, brave, firecrawl, parallel, perplexity, searxng.',
  'plugins.web.engines.*': 'A search engine.',
  'plugins.web.engines.*.api_key': 'Credential of the engine; searxng needs none.',
  'plugins.web.engines.*.url':
    'Address that replaces its own, without the path; searxng has none of its own.',
  'plugins.web.engines.*.price_per_search':
    'USD that a search of up to ten results costs, or USD by mode (`{auto: 0.007, deep: 0.012}`): a mode without a price costs the ' +
    'highest. Absent: the `web_search` price of the endpoint, else nothing.',
  'plugins.web.engines.*.price_per_search.*': 'USD that a search in this mode costs.',
  'plugins.web.engines.*.price_per_result':
    'USD that each result beyond ten costs, of those that the engine is asked for; absent: nothing.',
  'plugins.web.engines.*.modes':
    'Modes that callers may choose. Absent: those with a price of their own, and those that the engine bills like its usual one.',
  'plugins.web.default':
    'Engine for requests that name none: one of engines, auto or native; absent: native, else the first.',
  'plugins.moderation': 'The service that the plugin `moderation` asks: `/moderations` of a provider.',
  'plugins.moderation.provider': 'Slug of the provider.',
  'plugins.moderation.model': "The provider's name of the moderation model.",
  'plugins.file-parser': 'Settings of the plugin `file-parser`.',
  'plugins.file-parser.ocr': 'The service of the engine `mistral-ocr`: `/ocr` of a provider.',
  'plugins.file-parser.ocr.provider': 'Slug of the provider.',
  'plugins.file-parser.ocr.model': "The provider's name of the model.",
  'plugins.file-parser.ocr.price_per_page':
    'USD that a page costs: charged to the request that has the file read. A text that is already known costs nothing. Absent: ' +
    'not known, so that keys with a limit or a balance are refused; 0: free.',

  presets: 'Request fields by the name of a preset. A request names one as @preset/NAME.',
  'presets.*': 'Fields that the preset sets, as in a request: model, temperature and so on.',

  workspaces:
    'Workspaces of the first account, with budgets, keys, BYOK credentials, guardrails, destinations and classifiers. They are ' +
    'managed by the file: changes by the API or by commands are refused.',
  'workspaces[].slug': 'Identifies the workspace: another slug is another workspace.',
  'workspaces[].name': 'Display name; absent: the slug, or the name that the workspace has already.',
  'workspaces[].description': 'A text for people.',
  'workspaces[].default_text_model': 'The model of requests that name none.',
  'workspaces[].default_provider_sort': 'provider.sort of requests that give neither sort nor order.',
  'workspaces[].is_observability_io_logging_enabled':
    'Whether prompts and outputs of requests are stored; absent: no.',
  'workspaces[].is_observability_broadcast_enabled':
    'Whether destinations of the workspace are sent its generations; absent: yes if it has destinations here.',
  'workspaces[].io_logging_sampling_rate': 'Share of the requests that are stored; absent: 1.',
  'workspaces[].budgets':
    'All budgets of the workspace, USD; absent: budgets are set by the API or by commands.',
  'workspaces[].budgets.daily': 'The most that the workspace may spend in a day (UTC).',
  'workspaces[].budgets.weekly': 'The most that the workspace may spend in a week, from Monday (UTC).',
  'workspaces[].budgets.monthly': 'The most that the workspace may spend in a month (UTC).',
  'workspaces[].budgets.lifetime': 'The most that the workspace may spend ever.',
  'workspaces[].budgets.include_byok_in_budgets':
    'Whether usage on BYOK credentials counts towards the budgets; absent: no.',
  'workspaces[].keys': 'API keys. Other keys of the workspace are not touched.',
  'workspaces[].keys[].name': 'Name of the key.',
  'workspaces[].keys[].hash': 'SHA-256 of the key, hex. Either this or secret.',
  'workspaces[].keys[].secret': 'The key itself, from the environment. Only its hash is stored.',
  'workspaces[].keys[].limit': 'The most that the key may spend, USD; absent: no limit.',
  'workspaces[].keys[].limit_reset': 'When the limit is reset (UTC); absent: never.',
  'workspaces[].keys[].include_byok_in_limit':
    'Whether usage on BYOK credentials counts towards the limit; absent: no.',
  'workspaces[].keys[].disabled': 'Whether the key is refused; absent: no.',
  'workspaces[].keys[].expires_at': 'From when on the key is refused, UTC; absent: never.',
  'workspaces[].keys[].creator_user_id': 'The user of the key, for analytics and allowed_user_ids.',
  'workspaces[].byok': 'BYOK credentials. Other credentials of the workspace are not touched.',
  'workspaces[].byok[].provider': 'Slug of the provider.',
  'workspaces[].byok[].name': 'Name of the credential. Tells those of one provider apart.',
  'workspaces[].byok[].api_key': 'The credential, from the environment. Stored encrypted.',
  'workspaces[].byok[].disabled': 'Whether the credential is not used; absent: it is used.',
  'workspaces[].byok[].is_fallback': 'Whether it is tried only after the shared endpoints; absent: no.',
  'workspaces[].byok[].is_required':
    'Whether shared endpoints of the provider are not used for the models that it covers; absent: they are.',
  'workspaces[].byok[].is_byok_only':
    'Whether shared endpoints of the provider are not used at all; absent: they are.',
  'workspaces[].byok[].declared_zdr': 'Whether nothing is retained behind it; absent: as the provider says.',
  'workspaces[].byok[].allowed_models': 'Ids of the models that it is for; absent: all.',
  'workspaces[].byok[].allowed_user_ids': 'Users (creator_user_id of the key) who may use it; absent: all.',
  'workspaces[].byok[].allowed_api_key_hashes': 'Hashes of the keys that may use it; absent: all.',
  'workspaces[].guardrails':
    'Guardrails, with what they are assigned to. Others of the workspace are not touched.',
  'workspaces[].guardrails[].name': 'Name of the guardrail. Tells those of a workspace apart.',
  'workspaces[].guardrails[].description': 'A text for people.',
  'workspaces[].guardrails[].default': 'Whether it applies to all keys of the workspace; absent: no.',
  'workspaces[].guardrails[].keys':
    'Keys that it applies to: hashes, or names of keys of this workspace in the file.',
  'workspaces[].guardrails[].members': 'Members (creator_user_id of keys) whose keys it applies to.',
  'workspaces[].guardrails[].limit_usd':
    'The most that each key and each member under it may spend; absent: no limit.',
  'workspaces[].guardrails[].reset_interval': 'When the limit is reset (UTC); absent: never.',
  'workspaces[].guardrails[].include_byok_in_budgets':
    'Whether usage on BYOK credentials counts towards the limit; absent: no.',
  'workspaces[].guardrails[].allowed_providers': 'Slugs of the only providers that may serve; absent: all.',
  'workspaces[].guardrails[].ignored_providers': 'Slugs of providers that may not serve.',
  'workspaces[].guardrails[].allowed_models': 'The only models that may be used; absent: all.',
  'workspaces[].guardrails[].ignored_models': 'Models that may not be used.',
  'workspaces[].guardrails[].enforce_zdr_anthropic': 'Whether models of Anthropic need zero retention.',
  'workspaces[].guardrails[].enforce_zdr_openai': 'Whether models of OpenAI need zero retention.',
  'workspaces[].guardrails[].enforce_zdr_google': 'Whether models of Google need zero retention.',
  'workspaces[].guardrails[].enforce_zdr_xai': 'Whether models of xAI need zero retention.',
  'workspaces[].guardrails[].enforce_zdr_other': 'Whether all other models need zero retention.',
  'workspaces[].guardrails[].enable_paid_model_training':
    'Whether paid endpoints that may train on prompts may serve; absent: yes.',
  'workspaces[].guardrails[].enable_free_model_training':
    'Whether free endpoints that may train on prompts may serve; absent: yes.',
  'workspaces[].guardrails[].enable_free_model_publication':
    'Whether free endpoints that may publish prompts may serve; absent: yes.',
  'workspaces[].guardrails[].allowed_data_regions': 'Regions of the endpoints that may serve; absent: all.',
  'workspaces[].guardrails[].content_filter_builtins': 'Filters that the gateway brings along.',
  'workspaces[].guardrails[].content_filter_builtins[].slug': 'Which filter.',
  'workspaces[].guardrails[].content_filter_builtins[].action': 'What happens to a match.',
  'workspaces[].guardrails[].content_filter_builtins[].scan_scope':
    'For regex-prompt-injection: the messages that are read; absent: all.',
  'workspaces[].guardrails[].content_filters': 'Filters by regular expressions of your own.',
  'workspaces[].guardrails[].content_filters[].pattern':
    'The regular expression, without lookaround and backreferences.',
  'workspaces[].guardrails[].content_filters[].action': 'What happens to a match.',
  'workspaces[].guardrails[].content_filters[].label': 'Names the match, and replaces it when redacted.',
  'workspaces[].guardrails[].service': 'An HTTP service of your own that judges texts.',
  'workspaces[].guardrails[].service.url': 'Its address.',
  'workspaces[].guardrails[].service.timeout_ms': 'Time for all tries together; absent: 2s.',
  'workspaces[].guardrails[].service.retries': 'Further tries after a failure; absent: 1.',
  'workspaces[].guardrails[].service.window_characters':
    'An answer is judged in pieces of at least this many characters; absent: the whole answer at once.',
  'workspaces[].guardrails[].service.on_failure':
    'Whether requests are refused (closed) or pass (open) while it gives no verdict; absent: closed.',
  'workspaces[].destinations':
    'Where generations are sent as traces. Others of the workspace are not touched; at most 5 of a type, with those.',
  'workspaces[].destinations[].type': 'What receives the traces.',
  'workspaces[].destinations[].name':
    'Name of the destination. Tells those of one type in a workspace apart.',
  'workspaces[].destinations[].config':
    'What the type needs, such as its address and its key, by the names of the API. The address may be private. ' +
    'Secrets come from the environment, and are stored encrypted.',
  'workspaces[].destinations[].enabled': 'Whether it is sent anything; absent: yes.',
  'workspaces[].destinations[].privacy_mode': 'Whether prompts and answers are left out; absent: no.',
  'workspaces[].destinations[].sampling_rate': 'Share of the sessions that are sent; absent: 1.',
  'workspaces[].destinations[].api_key_hashes':
    'Hashes of the keys whose generations are sent; absent: those of all keys.',
  'workspaces[].destinations[].filter_rules':
    'Sends only generations that any of the groups accepts; absent: all.',
  'workspaces[].destinations[].filter_rules.enabled': 'Whether the rules are applied; absent: yes.',
  'workspaces[].destinations[].filter_rules.groups': 'Groups of rules; none: all generations are sent.',
  'workspaces[].destinations[].filter_rules.groups[].logic':
    'Whether all rules must hold (and) or one of them (or); absent: and.',
  'workspaces[].destinations[].filter_rules.groups[].rules': 'Rules of the group.',
  'workspaces[].destinations[].filter_rules.groups[].rules[].field': 'What of the generation is compared.',
  'workspaces[].destinations[].filter_rules.groups[].rules[].operator': 'How it is compared.',
  'workspaces[].destinations[].filter_rules.groups[].rules[].value':
    'What the field is compared with; exists and not_exists take none.',
  'workspaces[].destinations[].broadcast_generation_cost':
    'Whether the cost of generations, upstream calls and tools is sent too; absent: no.',
  'workspaces[].destinations[].broadcast_generation_identity':
    'Whether the id of the workspace and the hash and creator of the key are sent too; absent: no.',
  'workspaces[].destinations[].broadcast_generation_request_context':
    'Whether the id of the request, user agent, app, origin and preset are sent too; absent: no.',
  'workspaces[].classifiers':
    'What tags generations after their answers. Others of the workspace are not touched; at most one is active, with those.',
  'workspaces[].classifiers[].name': 'Name of the classifier. Tells those of a workspace apart.',
  'workspaces[].classifiers[].description': 'What it is for. Its model reads it.',
  'workspaces[].classifiers[].is_active': 'Whether it classifies; absent: yes.',
  'workspaces[].classifiers[].model': 'The model that is asked.',
  'workspaces[].classifiers[].dimensions': 'What is asked of each generation.',
  'workspaces[].classifiers[].dimensions[].name': 'Names a column of analytics.',
  'workspaces[].classifiers[].dimensions[].description': 'What is asked. The model reads it.',
  'workspaces[].classifiers[].dimensions[].values': 'All tags that there are.',
  'workspaces[].classifiers[].dimensions[].values[].value': 'The tag that a generation gets.',
  'workspaces[].classifiers[].dimensions[].values[].description': 'When it fits. The model reads it.',
  'workspaces[].classifiers[].sampling_rate':
    'Share of the sessions whose generations are classified; absent: 1.',
  'workspaces[].classifiers[].monthly_budget_usd':
    'The most that it may spend in a calendar month (UTC), USD; absent: no limit of its own.',

  tools: 'Tools that the gateway runs for models.',
  'tools.image_generation': 'Generation of images; absent: not offered.',
  'tools.image_generation.model': 'Model with image output.',
  'tools.sandbox':
    'Service that runs code for the tools bash, shell and code_interpreter; absent: they are not offered.',
  'tools.sandbox.url': 'Its address, which may be private.',
  'tools.sandbox.token': 'Token that is sent to it as `Authorization: Bearer`.',
  'tools.sandbox.price_per_run':
    'USD that a run of code costs, reserved and charged like a search; `shell` runs each command by itself.',
  'tools.mcp_servers': 'MCP servers by name, which is the `server_label` of requests.',
  'tools.mcp_servers.*': 'An MCP server.',
  'tools.mcp_servers.*.url': 'Its address (streamable HTTP), which may be private.',
  'tools.mcp_servers.*.authorization':
    'Token that is sent to it as `Authorization: Bearer`; with a scheme before it, as it stands.',
  'tools.mcp_servers.*.headers': 'Further headers of every request to it.',
  'tools.mcp_servers.*.headers.*': 'Value of the header of this name.',
  'tools.mcp_servers.*.description': 'What it is for: models read it with its tools.',
  'tools.mcp_servers.*.allowed_tools': 'Names of the tools that may be called; absent: all.',
  'tools.mcp_servers.*.read_only': 'Whether only tools may be called that the server marks as read-only.',
  'tools.mcp_servers.*.all_accounts':
    'Keys of all accounts may use it, with the credential here; `workspaces` and `keys` then add nothing.',
  'tools.mcp_servers.*.workspaces':
    'Workspaces whose keys may use it: ids, or slugs of the first account; absent, and no `keys`: all of the first account.',
  'tools.mcp_servers.*.keys': 'Hashes of the keys that may use it, besides those of `workspaces`.',
  'tools.limits': 'Bounds of one search, page or tool call.',
  'tools.limits.fetch_ms': 'Longest time of a fetch or a search.',
  'tools.limits.tool_ms': 'Longest time of a tool that calls no models, or of all pages of a request.',
  'tools.limits.read_bytes': 'Most bytes that are read from an address.',
  'tools.limits.result_characters':
    'Most characters of results that go into the prompt, of all pages together.',
  'tools.limits.steps': 'Most steps of a loop of tool calls.',

  observability: 'Traces of requests, and telemetry of the gateway itself.',
  'observability.trace_url':
    'Address of a trace where you look at them: generations link to it. `{trace_id}`, `{span_id}` and `{generation_id}` are filled in.',
  'observability.propagate_trace':
    'Whether upstreams, services of tools and MCP servers get `traceparent`, so that their spans join the trace.',
  'observability.spool':
    'What waits for destinations that do not answer. The oldest is left out first, and counted.',
  'observability.spool.max_days': 'Age up to which generations, prompts and answers wait.',
  'observability.spool.max_generations': 'Generations that wait for one destination.',
  'observability.spool.content_bytes':
    'Size of all prompts and answers that wait; large ones are compressed.',
  'observability.otlp':
    'Receiver of the metrics and log lines of the gateway by OTLP over HTTP; absent: none.',
  'observability.otlp.endpoint':
    'Its address, which may be private; `/v1/metrics` and `/v1/logs` are put behind it.',
  'observability.otlp.headers': 'Further headers of every request to it.',
  'observability.otlp.headers.*': 'Value of the header of this name.',
  'observability.otlp.protocol': 'Encoding of what is sent.',
  'observability.otlp.metrics': 'How metrics are sent, under the names of /metrics.',
  'observability.otlp.metrics.every_s': 'Seconds between two reports of all metrics.',
  'observability.otlp.logs': 'Whether log lines are sent.',

  metrics: 'Who may read /metrics.',
  'metrics.public': 'Whether /metrics needs no key.',
  'metrics.token':
    'Secret with which a scraper reads /metrics, also while the database is away; absent: a management key is needed.',
};
