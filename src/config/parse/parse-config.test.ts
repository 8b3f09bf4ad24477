// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
import { KNOWN_PROVIDERS } from '../../catalog/providers/known-providers.ts';
import type { Config } from '../schema/schema.ts';
import type { Environment } from './environment.ts';
import { parseConfig, parseConfigInThread } from './parse-config.ts';

const KNOWN = KNOWN_PROVIDERS;

function read(text: string, environment: Environment = {}): Config {
  const reading = parseConfig(text, environment, KNOWN);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.config;
}

function problems(text: string, environment: Environment = {}): string[] {
  const reading = parseConfig(text, environment, KNOWN);
  return reading.ok ? [] : reading.problems.map(({ path, message }) => `${path}: ${message}`);
}

const WHOLE = `
vendor: acme
server: { base_path: /gw/v1, max_body_bytes: 1048576, request_deadline_ms: 60000, region: eu, trusted_proxies: [10.0.0.0/8, "::1"], cors: { origins: [https://app.example.com, "*"] } }
providers:
  - slug: acme
    name: Acme
    dialect: openai-chat
    base_url: http://127.0.0.1:9101/v1
    api_key: \${ACME_KEY}
    headers: { x-team: blue }
    data_policy: { training: false, retains_prompts: false }
    timeouts_ms: { connect: 1, first_byte: 2, idle: 3, total: 4 }
  - slug: openai
models:
  - id: acme/large
    name: Acme Large
    context_length: 200000
    max_output_tokens: 32000
    input_modalities: [text, image, file]
    output_modalities: [text]
    aliases: [acme/large-latest]
    quality: { general: 0.82, coding: 0.71 }
    distillable: true
    endpoints:
      - provider: acme
        model: large-v1
        tag: acme/turbo
        quantization: fp8
        context_length: 128000
        max_output_tokens: 16000
        supported_parameters: [temperature, tools]
        pricing: { prompt: "0.000001", completion: "0.000004", input_cache_read: "0.0000001", input_cache_write: "0.00000125", request: "0", image: "0", web_search: "0", input_cache_write_1h: "0", discount: "0" }
limits:
  max_concurrent_requests: 10
  per_key: { requests_per_minute: 5, requests_per_day: null }
  analytics_per_minute: 64
  datasets: { per_minute: 30, per_day: 500 }
credits: { initial_usd: 5.5 }
byok: { fee: 0.05 }
routing: { attempts_per_model: 2, attempts_per_request: 4, sticky_idle_ms: 1000, cooldown: { failures: 1, base_ms: 1, max_ms: 2 } }
durability: { ledger: process, checkpoint_ms: 500 }
retention: { events_days: 1, content_days: 2, content_bytes: 3, output_items_bytes: 0 }
drain_ms: 0
keys: { prefix: sk-acme- }
prompts: { greet: { instructions: "Say {{what}}", input: hello } }
apps: { hidden: [localhost:3000, example.com] }
egress: { allow: [10.0.0.0/8, "*.internal.example", "[::1]:8080", "fd00::/8", 127.0.0.1:9000] }
plugins:
  auto-router: { models: ["acme/*"] }
  fusion: { panel: [a/x, b/y, c/z], judge: a/x, presets: { general-high: { panel: [a/x], judge: b/y } } }
  web: { engines: { exa: { api_key: \${EXA_KEY} }, searxng: { url: http://127.0.0.1:8888 } }, default: searxng }
  moderation: { provider: openai, model: omni-moderation-latest }
presets: { short: { temperature: 0.1 } }
metrics: { public: true }
`;

const KEYS = { ACME_KEY: 'secret-acme', EXA_KEY: 'secret-exa' };

describe('parseConfig', () => {
  it('fills every default for an empty file', () => {
    const config = read('');
    expect(config).toMatchObject({
      vendor: 'signalbox',
      server: {
        base_path: '/api/v1',
        max_body_bytes: 33_554_432,
        request_deadline_ms: 600_000,
        region: 'local',
        trusted_proxies: [],
        cors: { origins: [] },
      },
      providers: [{ slug: 'simulator' }],
      models: [],
      limits: {
        max_concurrent_requests: 4096,
        large_bodies_bytes: null,
        per_key: { requests_per_minute: null, requests_per_day: null },
        analytics_per_minute: 64,
        datasets: { per_minute: 30, per_day: 500 },
      },
      credits: { initial_usd: null },
      byok: { fee: 0 },
      routing: {
        attempts_per_model: 3,
        attempts_per_request: 8,
        sticky_idle_ms: 600_000,
        cooldown: { failures: 5, base_ms: 30_000, max_ms: 300_000 },
      },
      durability: { ledger: 'power', checkpoint_ms: 1000 },
      retention: {
        events_days: 400,
        content_days: 30,
        content_bytes: 10_737_418_240,
        output_items_bytes: 67_108_864,
      },
      drain_ms: 30_000,
      keys: { prefix: 'sk-sb-v1-' },
      prompts: {},
      apps: { hidden: [] },
      guardrails: { presidio_url: null },
      egress: { allow: [] },
      plugins: {},
      presets: {},
      metrics: { public: false },
    });
  });

  it('takes every key of the file', () => {
    const config = read(WHOLE, KEYS);
    expect(config.providers[0]).toMatchObject({
      slug: 'acme',
      api_key: 'secret-acme',
      headers: { 'x-team': 'blue' },
    });
    expect(config.providers[1]?.timeouts_ms).toEqual({
      connect: 10_000,
      first_byte: 120_000,
      idle: 120_000,
      total: 600_000,
    });
    expect(config.models[0]?.endpoints[0]?.pricing?.input_cache_write).toBe('0.00000125');
    expect(config.plugins.web?.engines.exa?.api_key).toBe('secret-exa');
    expect(config.prompts.greet?.instructions).toBe('Say {{what}}');
  });

  it('treats a section whose lines are all comments as empty', () => {
    expect(read('server:\n  # region: eu\nproviders:\n').server.region).toBe('local');
  });

  it.each([
    ['top: 1', 'top: is not a known field'],
    ['server: { prot: 1 }', 'server.prot: is not a known field'],
    [
      'routing: { cooldown: { base: 1 } }',
      'routing.cooldown.base: is not a known field; did you mean "base_ms"?',
    ],
    [
      'providers: [{ slug: p, dialect: openai-chat, base_url: http://h, key: x }]',
      'providers[0].key: is not a known field; did you mean "api_key"?',
    ],
    [
      'models: [{ id: a/b, endpoints: [{ provider: openai, pricing: { input: "1" } }] }]',
      'models[0].endpoints[0].pricing.input: is not a known field',
    ],
    ['plugins: { translator: {} }', 'plugins.translator: is not a known field'],
    ['prompts: { a: { output: x } }', 'prompts.a.output: is not a known field'],
    ['__proto__: { a: 1 }', '__proto__: is not a known field'],
  ])('refuses the unknown key of %s', (text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });

  it.each([
    ['vendor: Acme', 'vendor: '],
    ['vendor: total', 'vendor: there is a metric total_usage already'],
    ['server: { base_path: api }', 'server.base_path: must begin with "/"'],
    ['server: { max_body_bytes: 1.5 }', 'server.max_body_bytes: must be a whole number'],
    ['server: { max_body_bytes: "1" }', 'server.max_body_bytes: must be at least 1024'],
    ['server: { max_body_bytes: 3 apples }', 'server.max_body_bytes: must be a size such as 32MiB'],
    ['providers: [{ slug: p }]', 'providers[0].dialect: is required'],
    ['providers: [{ slug: p, dialect: openai-chat }]', 'providers[0].base_url: is required'],
    ['providers: [{ slug: p, dialect: cobol, base_url: http://h }]', 'providers[0].dialect: must be one of'],
    ['providers: [{ slug: openai, base_url: "ftp://h" }]', 'providers[0].base_url: must be an address'],
    [
      'providers: [{ slug: openai, base_url: "http://u:p@h" }]',
      'providers[0].base_url: must not hold a user',
    ],
    ['providers: [{ slug: openai, headers: { Host: x } }]', 'providers[0].headers.Host: is set by'],
    [
      'providers: [{ slug: openai, headers: { "a b": x } }]',
      'providers[0].headers["a b"]: the key must be the name',
    ],
    ['providers: [{ slug: openai, api_key: "a\\nb" }]', 'providers[0].api_key: holds a character'],
    [
      'providers: [{ slug: openai }, { slug: openai }]',
      'providers[1].slug: "openai" is already used at providers[0].slug',
    ],
    ['models: [{ id: a/b, endpoints: [] }]', 'models[0].endpoints: must have at least 1 item'],
    [
      'models: [{ id: a/b, endpoints: [{ provider: q }] }]',
      'models[0].endpoints[0].provider: "q" is not in providers',
    ],
    [
      'models: [{ id: a/b, endpoints: [{ provider: openai }] }, { id: a/b, endpoints: [{ provider: openai }] }]',
      'models[1].id: "a/b" is already used at models[0].id',
    ],
    [
      'models: [{ id: a/b, aliases: [a/c], endpoints: [{ provider: openai }] }, { id: a/c, endpoints: [{ provider: openai }] }]',
      'models[0].aliases[0]: "a/c" is already used at models[1].id',
    ],
    [
      'models: [{ id: a/b, endpoints: [{ provider: openai }, { provider: openai, tag: openai, model: a/b }] }]',
      'models[0].endpoints[1].tag: "openai" and the same model are already used at models[0].endpoints[0]: give it a tag of its own, such as "openai/2"',
    ],
    [
      'models: [{ id: a/b, endpoints: [{ provider: openai, tag: anthropic/eu }] }]',
      'models[0].endpoints[0].tag: "anthropic" is another provider: begin the tag with "openai"',
    ],
    [
      'providers: [{ slug: p, dialect: openai-chat, base_url: http://h }]\nmodels: [{ id: a/b, endpoints: [{ provider: openai, tag: p }] }]',
      'models[0].endpoints[0].tag: "p" is another provider',
    ],
    [
      'models: [{ id: a/b, endpoints: [{ provider: openai, pricing: { prompt: 0.000001 } }] }]',
      'models[0].endpoints[0].pricing.prompt: must be an exact decimal in quotes',
    ],
    [
      'models: [{ id: a/b, endpoints: [{ provider: openai, pricing: { prompt: "1e-6" } }] }]',
      'models[0].endpoints[0].pricing.prompt: must be an exact decimal',
    ],
    [
      'models: [{ id: a/b, quality: { coding: 1.5 }, endpoints: [{ provider: openai }] }]',
      'models[0].quality.coding: must be at most 1',
    ],
    [
      'models: [{ id: a/b, reasoning: { mandatory: true, supported_efforts: [much] }, endpoints: [{ provider: openai }] }]',
      'models[0].reasoning.supported_efforts[0]: must be one of',
    ],
    [
      'models: [{ id: a/b, created: 2026-02-30, endpoints: [{ provider: openai }] }]',
      'models[0].created: is not in the calendar',
    ],
    ['plugins: { auto-router: { models: ["a/("] } }', 'plugins.auto-router.models[0]: is no pattern'],
    ['plugins: { web: { default: exa } }', 'plugins.web.default: "exa" is not in plugins.web.engines'],
    [
      'plugins: { moderation: { provider: q, model: m } }',
      'plugins.moderation.provider: "q" is not in providers',
    ],
    ['routing: { cooldown: { base_ms: 10, max_ms: 5 } }', 'routing.cooldown.max_ms: must not be below'],
    ['egress: { allow: ["10.0.0.0/33"] }', 'egress.allow[0]: is not a host'],
    ['server: { trusted_proxies: [proxy.example] }', 'server.trusted_proxies[0]: is not an address'],
    ['server: { cors: { origins: [https://a.example/path] } }', 'server.cors.origins[0]: must be the origin'],
    [
      'observability: { trace_url: "https://t.example/{trace}" }',
      'observability.trace_url: has {trace}, which',
    ],
    ['observability: { trace_url: "https://t.example/" }', 'observability.trace_url: needs {trace_id}'],
    [
      'observability: { trace_url: "https://u:p@t.example/{trace_id}" }',
      'observability.trace_url: must not hold',
    ],
    [
      'observability: { otlp: { endpoint: "http://a:99999" } }',
      'observability.otlp.endpoint: must be an address',
    ],
    [
      'observability: { otlp: { endpoint: "http://a", headers: { host: b } } }',
      'observability.otlp.headers.host: ',
    ],
    ['server: { cors: { origins: ["https://a:99999"] } }', 'server.cors.origins[0]: is not an address'],
    ['apps: { hidden: ["http://x"] }', 'apps.hidden[0]: is not a host'],
    ['byok: { fee: 2 }', 'byok.fee: must be at most 1'],
    ['keys: { prefix: "a b" }', 'keys.prefix: must be'],
    ['drain_ms: -1', 'drain_ms: must be at least 0'],
    ['- a', 'line 1, column 1: the file begins with a list'],
  ])('refuses %s', (text, problem) => {
    expect(problems(text)[0]).toContain(problem);
  });

  it('lets endpoints of one model share a tag where the upstream has two names, and other models repeat it', () => {
    expect(
      problems(
        'models: [{ id: a/b, endpoints: [{ provider: openai, model: x }, { provider: openai, model: y }, { provider: openai, model: x, tag: openai/eu }] }, { id: a/c, endpoints: [{ provider: openai, model: x }] }]',
      ),
    ).toEqual([]);
  });

  it('names the path and the variable that is not set', () => {
    expect(problems('providers:\n  - slug: openai\n    api_key: ${NOT_SET}')).toEqual([
      'providers[0].api_key: the environment variable NOT_SET is not set',
    ]);
  });

  it('puts a variable inside a longer text, keeps $${NAME} and leaves comments alone', () => {
    const config = read(
      '# ${ABSENT}\nserver: { region: "${A}-${B}" }\nprompts: { p: { input: "$${A} costs $5" } }',
      {
        A: 'x: [1]',
        B: 'y',
      },
    );
    expect(config.server.region).toBe('x: [1]-y');
    expect(config.prompts.p?.input).toBe('${A} costs $5');
  });

  it('says where YAML is broken without quoting it', () => {
    const found = problems('providers:\n  - slug: openai\n    api_key: "sk-very-secret\n');
    expect(found.length).toBeGreaterThan(0);
    expect(found[0]).toMatch(/^line \d+, column \d+: /);
    expect(found.join()).not.toContain('sk-very-secret');
  });

  it.each([
    ['a duplicate key', 'drain_ms: 1\ndrain_ms: 2', /unique/],
    ['a tag', 'vendor: !secret x', /tag/i],
    ['a duplicate key that is written differently', 'presets: { 1: {}, "1": {} }', /unique/],
    ['a key that is a list', 'presets: { [a, b]: {} }', /a key must be a text/],
    ['an alias without an anchor', 'vendor: *x', /alias that has no anchor/],
    ['two documents', 'drain_ms: 1\n---\ndrain_ms: 2', /document/i],
  ])('refuses %s', (_what, text, reason) => {
    expect(problems(text).join()).toMatch(reason);
  });

  it('refuses an alias bomb and a deep nest at once', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[index]}`).join()}]`)
      .join('\n')}`;
    const took = processorMs(() => {
      expect(problems(bomb)).toEqual([
        'line 4, column 11: this alias would make more than 100 copies of one value: write some of them out, or use fewer aliases',
      ]);
      expect(problems(`presets: ${'['.repeat(20_000)}`).length).toBeGreaterThan(0);
      expect(problems(`presets: ${'['.repeat(20_000)}${']'.repeat(20_000)}`).length).toBeGreaterThan(0);
    });
    expect(took).toBeLessThan(10_000);
  });

  it('never quotes a value of the file in a problem', () => {
    const text = WHOLE.replace('acme/large\n', '"acme/ large"\n').replace(
      'dialect: openai-chat',
      'dialect: "${ACME_KEY}"',
    );
    expect(problems(text, KEYS).join()).not.toContain('secret-acme');
    expect(problems(text, KEYS).length).toBeGreaterThan(1);
  });

  it('never quotes the text of a file in a problem of its YAML', () => {
    for (const text of [
      'vendor: !canary x',
      'vendor: "\\canary"',
      'vendor: |canary\n x',
      '%canary\n---\nvendor: x',
    ]) {
      expect(problems(text).length).toBeGreaterThan(0);
      expect(problems(text).join()).not.toContain('canary');
    }
  });

  it('shows an unknown key cut, and with nothing in it that ends a line', () => {
    const found = problems(`drain_ms: 1\n${'k'.repeat(1000)}: 1\n"a\\nb\\e\\u202e": 1`);
    expect(found[0]).toBe(`${'k'.repeat(61)}...: is not a known field`);
    expect(found[1]).toBe('["a\\nb\\u001b\\u{202e}"]: is not a known field');
    const unset = problems(`prompts: { "a\\nb": { input: "\${NOT_SET}" } }`);
    expect(unset).toEqual(['prompts["a\\nb"].input: the environment variable NOT_SET is not set']);
  });

  it('shows no key of a file that is not a configuration', () => {
    for (const text of ['AWS_SECRET: x', 'password: x\ntoken: ${X}', '{ "sk-canary-1": 1, b: 2 }']) {
      expect(problems(text)).toEqual([
        ': the configuration has none of the keys of a configuration file; is it the right file?',
      ]);
    }
    expect(problems('sever: {}')).toEqual(['sever: is not a known field; did you mean "server"?']);
  });

  it('recognises a file of LiteLLM', () => {
    for (const text of ['model_list: []', 'router_settings: {}\nplugins: {}']) {
      expect(problems(text)).toEqual([expect.stringMatching(/is one of LiteLLM; .*"From LiteLLM"/)]);
    }
  });

  it('counts at most 100 of very many problems', () => {
    const models = Array.from({ length: 2000 }, (_, at) => `{ id: a/${at}, endpoints: [{ provider: q }] }`);
    expect(problems(`models: [${models.join()}]`)).toHaveLength(100);
  });

  it('takes time in proportion to the file', () => {
    const prompts = (count: number) =>
      `prompts:\n${Array.from({ length: count }, (_, at) => `  p${at}: { input: x }`).join('\n')}`;
    const timeOf = (text: string) => {
      const before = process.cpuUsage();
      expect(problems(text)).toEqual([]);
      return process.cpuUsage(before).user;
    };
    timeOf(prompts(4000));
    const short = timeOf(prompts(4000));
    // Four times the file; where every key is compared with every other, it takes up to sixteen times as long.
    expect(timeOf(prompts(16_000)) / short).toBeLessThan(10);
  });
});

describe('parseConfigInThread', () => {
  it.each([
    ['a whole file', WHOLE],
    ['an empty file', ''],
    ['a number that JSON does not know', 'drain_ms: .inf'],
    ['a key that is a name of the language', '__proto__: { a: 1 }'],
    ['broken YAML', 'vendor: "x'],
    ['a duplicate key', 'drain_ms: 1\ndrain_ms: 2'],
    ['a deep nest', `presets: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['an unknown alias', 'vendor: *x'],
  ])('reads the same as parseConfig: %s', async (_what, text) => {
    expect(await parseConfigInThread(text, KEYS, KNOWN)).toEqual(parseConfig(text, KEYS, KNOWN));
  });

  it('leaves the thread free while it reads', async () => {
    const text = `prompts:\n${Array.from({ length: 10_000 }, (_, at) => `  p${at}: { input: x }`).join('\n')}`;
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const reading = await parseConfigInThread(text, {}, KNOWN);
    clearInterval(timer);
    expect(reading.ok).toBe(true);
    expect(turns).toBeGreaterThan(20);
  });
});
