import Type, { type Static } from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { MAX_WORKERS } from '../worker-count.ts';
import { share } from './catalog-members.ts';
import {
  bytes,
  count,
  days,
  label,
  MAX_TIMER_MS,
  milliseconds,
  nullOr,
  requestHeaders,
  section,
  text,
  withDefault,
} from './key-kinds.ts';
import { model } from './model-members.ts';
import { plugins } from './plugin-members.ts';
import { provider } from './provider-members.ts';
import { tools } from './tool-members.ts';
import { workspace } from './workspace-members.ts';

/**
 * The configuration file. A key with a `default` is always there once the defaults are filled in, so its type is not
 * optional; the others may be absent or null. Keys are named as in the file.
 */

const GIB = 1024 ** 3;

/** How much may be stored as files by one key, in one workspace or in one account. */
function fileQuota(description: string, maxBytes: number, maxFiles: number) {
  const amount = (most: number, unit: object = {}) =>
    withDefault(
      Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...unit }), Type.Null()]),
      most,
    );
  return section(description, {
    max_bytes: described('Their size, together; null: no limit.', amount(maxBytes, { unit: 'bytes' })),
    max_files: described('Their number; null: no limit.', amount(maxFiles)),
  });
}

const prompt = closed({
  instructions: described('System instructions.', nullish(Type.String())),
  input: described('Text of the user.', nullish(Type.String())),
});

export const configSchema = closed({
  vendor: described(
    'The word in headers, fields and model ids of the gateway: X-Signalbox-Metadata, signalbox_metadata, signalbox/auto.',
    withDefault(
      Type.String({
        pattern: '^[a-z][a-z0-9-]{0,31}$',
        explain: 'must be 1 to 32 of a-z, 0-9 and "-", beginning with a letter',
      }),
      'signalbox',
    ),
  ),
  server: section(
    'How the gateway listens and reads requests. Host and port are flags or environment variables.',
    {
      base_path: described(
        'Path under which the API answers. It answers under /v1 too.',
        withDefault(
          Type.String({
            pattern: '^(/[A-Za-z0-9._~-]+)+$',
            maxLength: 256,
            explain: 'must begin with "/" and not end with one, for example /api/v1',
          }),
          '/api/v1',
        ),
      ),
      max_body_bytes: described(
        'Largest request body. A larger one gets a 413.',
        bytes(33_554_432, 1024, 1_073_741_824),
      ),
      request_deadline_ms: described(
        'Longest time that a request may take. After it the caller gets a 408.',
        milliseconds(600_000),
      ),
      region: described('Name of this installation in routing metadata.', withDefault(text(64), 'local')),
      workers: described(
        'Serving processes on the port; `auto`: one for each core, within the CPU quota. `--workers` has precedence.',
        withDefault(
          Type.Union([Type.Integer({ minimum: 1, maximum: MAX_WORKERS }), Type.Literal('auto')], {
            explain: `must be a whole number from 1 to ${MAX_WORKERS}, or "auto"`,
          }),
          1,
        ),
      ),
      tls: described(
        'Certificate with which the gateway serves HTTPS; absent: plain HTTP. A change of the names needs a restart.',
        nullOr(
          closed({
            cert: described(
              'PEM file of the certificate and its chain. Relative names begin at the folder of this file. Read again when it changes.',
              text(4096),
            ),
            key: described(
              'PEM file of its private key, without a passphrase. Read again when it changes.',
              text(4096),
            ),
          }),
        ),
      ),
      trusted_proxies: described(
        'Addresses or ranges (10.0.0.0/8) of proxies whose X-Forwarded-For is believed.',
        withDefault(Type.Array(text(64), { maxItems: 256 }), []),
      ),
      cors: section('Calls from web pages.', {
        origins: described(
          'Origins of the pages that may call with a key: https://app.example.com, or "*" for any.',
          withDefault(
            Type.Array(
              Type.String({
                pattern: '^(?:\\*|https?://[A-Za-z0-9.:\\[\\]-]+)$',
                maxLength: 512,
                explain: 'must be the origin of a page, for example https://app.example.com, or "*" for any',
              }),
              { maxItems: 256 },
            ),
            [],
          ),
        ),
      }),
    },
  ),
  providers: described(
    'Companies and servers that run models. A provider of the built-in table needs only its slug and a key. If the ' +
      'list is empty, the simulator and the providers whose keys are in the environment serve.',
    withDefault(Type.Array(provider, { maxItems: 1000 }), []),
  ),
  models: described(
    'Models that the shipped catalogue lacks, and what differs from it. A member that is left out keeps the value of the catalogue.',
    withDefault(Type.Array(model, { maxItems: 100_000 }), []),
  ),
  limits: section('Limits that protect the gateway.', {
    max_concurrent_requests: described('Generations in flight. Above it the caller gets a 503.', count(4096)),
    large_bodies_bytes: described(
      'Memory for all large bodies and answers together. null: half of what the process may take.',
      nullOr(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, unit: 'bytes' })),
    ),
    per_key: section(
      'Limits of each key on generations and files, counted by key. Above one the caller gets a 429 with Retry-After.',
      {
        requests_per_minute: described(
          'Requests of a key in a minute; null: no limit.',
          nullOr(Type.Integer({ minimum: 1 })),
        ),
        requests_per_day: described(
          'Requests of a key in a day (UTC); null: no limit.',
          nullOr(Type.Integer({ minimum: 1 })),
        ),
        tokens_per_minute: described(
          'Tokens of a key in a minute, of prompts and completions; null: no limit. A generation counts when it has ended.',
          nullOr(Type.Integer({ minimum: 1 })),
        ),
        tokens_per_day: described(
          'Tokens of a key in a day (UTC), counted alike; null: no limit.',
          nullOr(Type.Integer({ minimum: 1 })),
        ),
      },
    ),
    files: section('How much may be stored as files. Uploads beyond it are refused; what is stored stays.', {
      per_key: fileQuota('Files that one key has stored, with management keys.', 5 * GIB, 10_000),
      per_workspace: fileQuota('Files of one workspace.', 20 * GIB, 50_000),
      per_account: fileQuota('Files of all workspaces of an account.', 50 * GIB, 100_000),
      min_free_disk_bytes: described(
        'Free disk below which uploads are refused, if files are in the data directory; 0: none. The journal needs the rest.',
        bytes(256 * 1024 * 1024, 0),
      ),
    }),
    analytics_per_minute: described('Analytics requests of a key in a minute.', count(64)),
    datasets: section('Limits of the datasets routes.', {
      per_minute: described('Requests of a key in a minute.', count(30)),
      per_day: described('Requests of an account in a day (UTC).', count(500)),
    }),
  }),
  credits: section('Balances of accounts.', {
    initial_usd: described(
      'Balance of a new account in USD; null: spending is counted and nothing is refused.',
      nullOr(Type.Number({ minimum: 0, maximum: MAX_USD })),
    ),
  }),
  byok: section('Calls with credentials that accounts bring.', {
    fee: described(
      'Share of the list price, 0 to 1, that such a call costs the account.',
      withDefault(share, 0),
    ),
  }),
  routing: section('Attempts, stickiness and cool-downs.', {
    attempts_per_model: described(
      'Endpoints that a request tries for one model.',
      withDefault(Type.Integer({ minimum: 1, maximum: 100 }), 3),
    ),
    attempts_per_request: described(
      'Upstream calls that a request makes at most.',
      withDefault(Type.Integer({ minimum: 1, maximum: 100 }), 8),
    ),
    sticky_idle_ms: described(
      'How long a conversation without a success is remembered where it was served last, for its prompt cache.',
      milliseconds(600_000),
    ),
    cooldown: section('When a failing endpoint is tried last, and for how long.', {
      failures: described(
        'Failures in a row that begin a cool-down.',
        withDefault(Type.Integer({ minimum: 1, maximum: 1000 }), 5),
      ),
      base_ms: described(
        'Length of the first cool-down; the next is twice as long, the one after it three times, and each up to a fifth longer by chance.',
        milliseconds(30_000),
      ),
      max_ms: described('Length of the longest cool-down.', milliseconds(300_000)),
    }),
  }),
  durability: section('What survives a crash.', {
    ledger: described(
      'power: the record of an answer is synced to the disk before the answer ends. process: it is only written, so ' +
        'that a power loss may lose the last ones.',
      withDefault(oneOf(['power', 'process']), 'power'),
    ),
    checkpoint_ms: described(
      'Longest time between something new in a stream and its checkpoint.',
      milliseconds(1000),
    ),
  }),
  storage: section(
    'Where uploaded files, and stored prompts and answers, are. Absent: in the data directory.',
    {
      s3: described(
        'A bucket of an S3-compatible service, which several gateways can share.',
        nullOr(
          closed({
            endpoint: described(
              'Scheme, host and port of the service. Absent: that of AWS for the region.',
              nullish(
                Type.String({
                  pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+$',
                  maxLength: 512,
                  explain: 'must be scheme, host and port, for example https://storage.internal:9000',
                }),
              ),
            ),
            region: described(
              'Region that requests are signed for. Absent: us-east-1.',
              nullish(
                Type.String({ pattern: '^[a-z0-9-]{1,64}$', explain: 'must be 1 to 64 of a-z, 0-9 and "-"' }),
              ),
            ),
            bucket: described(
              'Name of the bucket, which must exist.',
              Type.String({
                pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
                explain:
                  'must be 3 to 63 of a-z, 0-9, "." and "-", beginning and ending with a letter or digit',
              }),
            ),
            prefix: described(
              'Begins the name of every object, such as signalbox/. Absent: nothing.',
              nullish(
                Type.String({
                  pattern: '^([A-Za-z0-9._-]+/)*$',
                  maxLength: 512,
                  explain: 'must be names of letters, digits, ".", "_" and "-", each with "/" behind it',
                }),
              ),
            ),
            access_key_id: described('Id of the access key.', text(256)),
            secret_access_key: described('Secret of the access key.', text(512)),
            session_token: described('Token of a temporary access key.', nullish(text(8192))),
            path_style: described(
              'true or absent: the bucket is the first part of the path. false: it is the first part of the host.',
              nullish(Type.Boolean()),
            ),
          }),
        ),
      ),
    },
  ),
  ledger: section('How money is reserved in a shared PostgreSQL database.', {
    slices: section(
      'Money that a gateway reserves ahead for a key that is used often, so that not every request needs the database, ' +
        'and none for some seconds while it is away.',
      {
        max_usd: described(
          'Up to how much a gateway fills what it holds ahead for one key; 0: nothing. What requests do not use comes back on top of it.',
          withDefault(Type.Number({ minimum: 0, maximum: MAX_USD }), 25),
        ),
        max_share: described(
          'The same as a share of what is left of the tightest limit, budget or balance, from 0 to 1.',
          withDefault(share, 0.02),
        ),
      },
    ),
  }),
  retention: section('How long data are kept.', {
    events_days: described(
      'Records of generations, and the events that analytics count. Daily sums stay.',
      days(400),
    ),
    content_days: described('Stored prompts and answers.', days(30)),
    content_bytes: described(
      'Largest size of stored prompts and answers. Above it the oldest are removed.',
      bytes(10_737_418_240),
    ),
    output_items_bytes: described(
      'Memory for output items that later requests refer to. Above it the least recently used are forgotten; 0: none.',
      bytes(67_108_864, 0),
    ),
  }),
  drain_ms: described('How long open requests may take to finish after SIGTERM.', milliseconds(30_000, 0)),
  drain_grace_ms: described(
    'How long a gateway still serves what comes after SIGTERM, while /readyz says that it is not ready. Null: 2 s ' +
      'with a shared database, otherwise 0.',
    nullOr(Type.Integer({ minimum: 0, maximum: MAX_TIMER_MS, unit: 'ms' })),
  ),
  keys: section('Secrets of new keys.', {
    prefix: described(
      'How the secrets of new keys begin.',
      withDefault(
        Type.String({
          pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$',
          explain: 'must be 1 to 32 letters, digits, "_" and "-", beginning with a letter or digit',
        }),
        'sk-sb-v1-',
      ),
    ),
  }),
  prompts: described(
    'Templates for the prompt field of /responses, by id.',
    withDefault(
      Type.Record(
        Type.String(),
        described('A template; {{name}} is replaced by a variable of the request.', prompt),
      ),
      {},
    ),
  ),
  apps: section('Apps in rankings.', {
    hidden: described(
      'Hosts of apps that rankings leave out; *.example.com stands for any name before the rest.',
      withDefault(Type.Array(text(255)), []),
    ),
  }),
  guardrails: section('Services that guardrails use.', {
    presidio_url: described(
      'Base address of a Presidio-compatible analyzer, which finds names and addresses of people; absent: none.',
      nullOr(
        Type.String({
          pattern: '^https?://[^\\s/@]+(?:/[^\\s?#]*)?$',
          maxLength: 2048,
          explain: 'must be an http or https address without a user name, for example http://127.0.0.1:5002',
        }),
      ),
    ),
  }),
  egress: section(
    'Addresses that callers name: pages, files, services of guardrails, the endpoint_url of a BYOK credential.',
    {
      allow: described(
        'Hosts, addresses or ranges that may be called although they are private.',
        withDefault(Type.Array(text(255)), []),
      ),
    },
  ),
  plugins,
  presets: described(
    'Request fields by the name of a preset. A request names one as @preset/NAME.',
    withDefault(
      Type.Record(
        Type.String(),
        described(
          'Fields that the preset sets, as in a request: model, temperature and so on.',
          Type.Record(Type.String(), Type.Unknown()),
        ),
        {
          propertyNames: label,
        },
      ),
      {},
    ),
  ),
  tools,
  workspaces: described(
    'Workspaces of the first account, with budgets, keys, BYOK credentials, guardrails, destinations and classifiers. ' +
      'They are managed by the file: changes by the API or by commands are refused.',
    withDefault(Type.Array(workspace, { maxItems: 1000 }), []),
  ),
  observability: section('Traces of requests, and telemetry of the gateway itself.', {
    trace_url: described(
      'Address of a trace where you look at them: generations link to it. `{trace_id}`, `{span_id}` and `{generation_id}` are filled in.',
      nullOr(
        Type.String({
          pattern: '^https?://\\S+$',
          maxLength: 2048,
          explain:
            'must be an address with {trace_id} in it, such as https://traces.example.com/trace/{trace_id}',
        }),
      ),
    ),
    propagate_trace: described(
      'Whether upstreams, services of tools and MCP servers get `traceparent`, so that their spans join the trace.',
      withDefault(Type.Boolean(), false),
    ),
    spool: section(
      'What waits for destinations that do not answer. The oldest is left out first, and counted.',
      {
        max_days: described('Age up to which generations, prompts and answers wait.', days(3)),
        max_generations: described(
          'Generations that wait for one destination.',
          withDefault(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), 1_000_000),
        ),
        content_bytes: described(
          'Size of all prompts and answers that wait; large ones are compressed.',
          bytes(1_073_741_824),
        ),
      },
    ),
    otlp: described(
      'Receiver of the metrics and log lines of the gateway by OTLP over HTTP; absent: none.',
      nullOr(
        closed({
          endpoint: described(
            'Its address, which may be private; `/v1/metrics` and `/v1/logs` are put behind it.',
            Type.String({
              pattern: '^https?://[^\\s/@]+(?:/[^\\s?#]*)?$',
              maxLength: 2048,
              explain:
                'must be an http or https address without a user name, for example http://127.0.0.1:4318',
            }),
          ),
          headers: described('Further headers of every request to it.', requestHeaders),
          protocol: described(
            'Encoding of what is sent.',
            withDefault(oneOf(['protobuf', 'json']), 'protobuf'),
          ),
          metrics: section('How metrics are sent, under the names of /metrics.', {
            every_s: described(
              'Seconds between two reports of all metrics.',
              withDefault(Type.Integer({ minimum: 1, maximum: 3600 }), 15),
            ),
          }),
          logs: described('Whether log lines are sent.', withDefault(Type.Boolean(), true)),
        }),
      ),
    ),
  }),
  metrics: section('Who may read /metrics, and what is in it.', {
    public: described('Whether /metrics needs no key.', withDefault(Type.Boolean(), false)),
    token: described(
      'Secret with which a scraper reads /metrics, also while the database is away; absent: a management key is needed.',
      nullish(
        Type.String({
          pattern: '^[\\x21-\\x7e]{16,512}$',
          explain: 'must be 16 to 512 characters without spaces: make one with `openssl rand -hex 32`',
        }),
      ),
    ),
    key_limits: described(
      'Keys with a limit in USD that /metrics shows: those with the smallest share left. 0 = none.',
      withDefault(Type.Integer({ minimum: 0, maximum: 1000 }), 0),
    ),
  }),
});

/** The configuration: the file with defaults and variables filled in. */
export type Config = Static<typeof configSchema>;
