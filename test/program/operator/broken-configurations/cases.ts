// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.

/** A provider and a model that are right, for cases about other places. */
const ACME = `providers:
  - slug: acme
    dialect: openai-chat
    base_url: http://127.0.0.1:9101/v1
    api_key: canary-secret
`;

const model = (lines: string) => `${ACME}models:
  - id: acme/large
    endpoints:
      - provider: acme
${lines}`;

/** Mistakes that people make, each in a file of its own: what is wrong, and the file. */
export const BROKEN: readonly (readonly [what: string, text: string])[] = [
  // --- The text is not YAML.
  ['a quote is not closed', 'vendor: acme\nproviders:\n  - slug: openai\n    api_key: "canary-secret\n'],
  ['a single quote is not closed', "server:\n  region: 'eu\nvendor: acme\n"],
  ['a list is not closed', 'apps:\n  hidden: [a.example, b.example\nvendor: acme\n'],
  ['a map is not closed', 'server: { region: eu\nvendor: acme\n'],
  ['a comma is missing in a map', 'server: { region: eu max_body_bytes: 5000 }\n'],
  ['a comma is missing in a list', 'apps: { hidden: ["a.example" "b.example"] }\n'],
  ['a comma is missing in JSON', '{ "vendor": "acme" "server": {} }\n'],
  ['a tab indents', 'server:\n\tregion: eu\n'],
  ['a line is indented too little', 'server:\n    region: eu\n  base_path: /api\n'],
  ['a line is indented too far', 'server:\n  region: eu\n   base_path: /api\n'],
  [
    'a key of a list item is indented too little',
    'providers:\n  - slug: openai\n    name: A\n   api_key: canary-secret\n',
  ],
  ['a key of a list item is indented too far', 'providers:\n  - slug: openai\n     name: A\n'],
  ['a key is at the place of a dash', 'providers:\n  - slug: openai\n  name: A\n'],
  ['a dash is indented too little', 'providers:\n  - slug: openai\n - slug: anthropic\n'],
  ['a dash is indented too far', 'providers:\n  - slug: openai\n    - slug: anthropic\n'],
  ['a colon is missing', 'server:\n  region eu\n  base_path: /api\n'],
  ['the space behind a colon is missing', 'vendor:acme\nserver: {}\n'],
  ['a text holds a colon', 'providers:\n  - slug: openai\n    name: OpenAI: the first\n'],
  ['a text begins with a reserved character', 'vendor: @acme\n'],
  ['a text begins with a star', 'egress:\n  allow:\n    - *.internal.example\n'],
  ['a list holds a star', 'plugins:\n  auto-router:\n    models: [*]\n'],
  ['a bracket too many', 'server: { region: eu }}\n'],
  ['a text goes on behind its quotes', 'vendor: "acme" gateway\n'],
  ['a backslash in double quotes', 'server: { region: "C:\\gateway" }\n'],
  ['a list item among keys', 'vendor: acme\n- openai\n'],
  ['a tag', 'vendor: !env ACME\n'],
  ['two documents', 'vendor: acme\n---\ndrain_ms: 5\n'],
  ['a template of another tool', 'server:\n  region: {{ region }}\n'],
  ['a key twice', 'server:\n  region: eu\n  base_path: /api\n  region: us\n'],
  ['a secret twice', 'providers:\n  - slug: openai\n    api_key: canary-1\n    api_key: canary-2\n'],
  ['a list at the top', '- slug: openai\n  api_key: canary-secret\n'],
  ['a text at the top', 'canary-secret\n'],
  ['the only line has no space behind its colon', 'vendor:acme\n'],
  ['the only key of a list item has no space', 'providers:\n  - slug:openai\n'],
  ['the first key of a list item has no space', 'providers:\n  - slug:openai\n    name: A\n'],
  ['the last key of a list item has no space', 'providers:\n  - slug: openai\n    api_key:canary\n'],
  ['no keys at all', 'vendor = acme\n'],
  ['another file', 'AWS_SECRET_ACCESS_KEY: canary-secret\n'],
  ['a merge key', 'providers:\n  - &acme { slug: openai }\n  - <<: *acme\n    slug: anthropic\n'],
  ['an alias too often', `apps:\n  hidden: [&a a.example${', *a'.repeat(101)}]\n`],
  [
    'aliases of aliases',
    'presets:\n  a: &a { x: [1] }\n  b: &b { x: [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a] }\n  c: { x: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b] }\n',
  ],
  ['an alias in itself', 'apps:\n  hidden: &a [*a]\n'],
  // --- A key is wrong.
  ['a misspelt section', `${ACME}routng: {}\n`],
  ['the only section is misspelt', 'provders:\n  - slug: openai\n'],
  ['the only section in capitals', 'Providers:\n  - slug: openai\n'],
  ['a misspelt key', 'providers:\n  - slug: openai\n    api_kye: canary-secret\n'],
  ['a misspelt required key', 'providers:\n  - slgu: openai\n    api_key: canary-secret\n'],
  ['a key of another section', 'base_path: /api/v2\nvendor: acme\n'],
  ['a key without any likeness', 'server:\n  colour: blue\n'],
  ['a key deep in a model', model('        pricing: { input: "0.000001" }\n')],
  ['a required key is missing', 'models:\n  - name: Large\n    endpoints:\n      - provider: openai\n'],
  ['a dash without a space', 'providers:\n  -slug: openai\n'],
  ['a map in place of a list', 'providers:\n  openai:\n    api_key: ${PATH}\n'],
  ['a list in place of a map', 'server:\n  - region: eu\n'],
  ['a header name with a space', 'providers:\n  - slug: openai\n    headers: { "x team": canary-secret }\n'],
  ['the port in the file', 'server:\n  port: 8080\n'],
  ['the port at the top', 'port: 8080\nvendor: acme\n'],
  ['a preset with a space', 'presets: { "very brief": {} }\n'],
  ['a label with a dot', 'tools:\n  mcp_servers:\n    a.b: { url: https://a.example/mcp }\n'],
  ['a search engine in capitals', 'plugins: { web: { engines: { Mine: { type: brave } } } }\n'],
  ['a key on a long line', `apps: { hidden: [${'a.example, '.repeat(300)}b.example], colour: blue }\n`],
  ['a secret on a long line', `apps: { hidden: [${'a.example, '.repeat(300)}b.example], api_kye: canary }\n`],
  ['a key behind wide characters', 'server: { region: "\u6771\u4eac", colour: blue }\n'],
  ['a value of wide characters', 'vendor: \u6771\u4eac\n'],
  // --- A value is wrong.
  ['a misspelt word', 'providers:\n  - slug: acme\n    dialect: opnai-chat\n    base_url: http://h/v1\n'],
  ['half a word', 'providers:\n  - slug: acme\n    dialect: openai\n    base_url: http://h/v1\n'],
  ['a word in capitals', 'durability:\n  ledger: Power\n'],
  ['a number in quotes', model('        context_length: "128000"\n')],
  ['a text in place of a number', 'limits:\n  max_concurrent_requests: many\n'],
  ['a number below its least', 'server:\n  max_body_bytes: 10\n'],
  ['a unit that is none', 'server:\n  request_deadline_ms: 10 parsecs\n'],
  ['a size in place of a duration', 'drain_ms: 32MiB\n'],
  ['half a day', 'retention:\n  content_days: 12h\n'],
  ['yes in place of true', 'metrics:\n  public: yes\n'],
  ['a number in place of a text', 'server:\n  region: 5\n'],
  ['a base path without a slash', 'server:\n  base_path: api/v1\n'],
  ['a price as a number', model('        pricing: { prompt: 0.000001 }\n')],
  ['a price per million that is none', model('        pricing: { prompt_per_million: cheap }\n')],
  ['a price in both ways', model('        pricing: { prompt: "0.000001", prompt_per_million: 1 }\n')],
  ['a discount', model('        pricing: { prompt: "0.000001", discount: "0.1" }\n')],
  ['a day that is not in the calendar', `${model('        tag: acme\n')}    created: 2026-02-30\n`],
  // --- Two places do not fit.
  ['a misspelt provider of the table', 'providers:\n  - slug: antropic\n    api_key: canary-secret\n'],
  ['an unknown provider', 'providers:\n  - slug: workshop\n    dialect: openai-chat\n'],
  ['an endpoint at an unknown provider', 'models:\n  - id: a/b\n    endpoints:\n      - provider: opennai\n'],
  ['a slug twice', 'providers:\n  - slug: openai\n  - slug: openai\n'],
  [
    'a model twice',
    `${model('        tag: acme\n')}  - id: acme/large\n    endpoints: [{ provider: acme }]\n`,
  ],
  ['two endpoints that cannot be told apart', model('      - provider: acme\n')],
  ['a tag of another provider', model('        tag: openai/eu\n')],
  ['a user in an address', 'providers:\n  - slug: openai\n    base_url: http://user:canary@h/v1\n'],
  ['an address without its scheme', 'providers:\n  - slug: openai\n    base_url: api.example.com/v1\n'],
  ['a header of the gateway', 'providers:\n  - slug: openai\n    headers:\n      Host: canary-secret\n'],
  ['a cool-down that ends before it begins', 'routing:\n  cooldown: { base_ms: 1m, max_ms: 30s }\n'],
  ['a range that is too wide', 'egress:\n  allow:\n    - 10.0.0.0/33\n'],
  ['a preset with an unknown field', 'presets:\n  brief:\n    temprature: 0.2\n'],
  ['a variable that is not set', 'providers:\n  - slug: openai\n    api_key: ${SIGNALBOX_TEST_NOT_SET}\n'],
  [
    'a key of a workspace without hash or secret',
    'workspaces:\n  - slug: team\n    keys:\n      - name: CI\n',
  ],
  [
    'a budget below that of a shorter window',
    'workspaces:\n  - slug: team\n    budgets: { daily: 10, weekly: 5 }\n',
  ],
  [
    'a key whose secret is too short',
    'workspaces:\n  - slug: team\n    keys:\n      - { name: CI, secret: canary }\n',
  ],
  ['a budget of nothing', 'workspaces:\n  - slug: team\n    budgets: { daily: 0 }\n'],
  ['a workspace that is there twice', 'workspaces:\n  - slug: team\n  - slug: team\n'],
  [
    'a credential of a misspelt provider',
    'workspaces:\n  - slug: team\n    byok:\n      - { provider: opnai, api_key: canary-secret }\n',
  ],
  [
    'a secret of a workspace that is not set',
    'workspaces:\n  - slug: team\n    byok:\n      - { provider: openai, api_key: ${SIGNALBOX_TEST_NOT_SET} }\n',
  ],
  ['three mistakes at once', 'vendor: Acme\nserver:\n  regoin: eu\n  request_deadline_ms: soon\n'],
  [
    'three mistakes, two of them files that do not exist',
    'vendor: Acme\nserver:\n  tls: { cert: nowhere.pem, key: nowhere.key }\n',
  ],
  [
    'three mistakes of three kinds',
    'server:\n  regoin: eu\npresets: { brief: { temprature: 0.2 } }\nworkspaces:\n  - slug: team\n    keys: [{ name: CI }]\n',
  ],
  [
    'three mistakes behind one that leaves a model out',
    `${ACME}models:\n  - name: Large\n    endpoints: [{ provider: acme }]\n  - id: a/b\n    endpoints:\n      - provider: opnai\n  - id: a/b\n    endpoints:\n      - provider: acme\n`,
  ],
  [
    'three mistakes, none for a provider that is left out',
    'vendor: total\nproviders:\n  - slug: Acme\nserver: { workers: 0 }\nmodels:\n  - id: acme/large\n    endpoints:\n      - provider: acme\n',
  ],
  [
    'a misspelt section that others refer to',
    'Providers:\n  - { slug: acme, dialect: openai-chat, base_url: http://h/v1 }\nmodels:\n  - id: a/b\n    endpoints: [{ provider: acme }]\n',
  ],
  [
    'a misspelt key of a workspace that a guardrail refers to',
    'workspaces:\n  - slug: team\n    keys: [{ nmae: CI, secret: ${PATH} }]\n    guardrails: [{ name: G, keys: [CI] }]\n',
  ],
  [
    'a misspelt limit of a key that is reset',
    'workspaces:\n  - slug: team\n    keys: [{ name: CI, secret: ${PATH}, limt: 5, limit_reset: daily }]\n',
  ],
  // --- Almost surely wrong.
  ['warning: a price per million as one of a token', model('        pricing: { prompt: "1.25" }\n')],
  [
    'warning: the path of the dialect in the address',
    'providers:\n  - slug: acme\n    dialect: openai-chat\n    base_url: http://127.0.0.1:9101/v1/chat/completions\nmodels:\n  - id: a/b\n    endpoints: [{ provider: acme }]\n',
  ],
  [
    'warning: the path of a model in the address',
    'providers:\n  - slug: acme\n    dialect: google-gemini\n    base_url: http://127.0.0.1/v1beta/models/m:generateContent\nmodels:\n  - id: a/b\n    endpoints: [{ provider: acme, pricing: { web_search: "0.01" } }]\n',
  ],
  ['warning: a variable without braces', 'providers:\n  - slug: openai\n    api_key: $OPENAI_KEY\n'],
  ['warning: a variable that is not closed', 'providers:\n  - slug: openai\n    api_key: ${OPENAI_KEY\n'],
  ['warning: a variable with a default', 'server: { region: "${REGION:-eu}" }\n'],
  [
    'warning: a secret as the default of a variable',
    'providers:\n  - slug: openai\n    api_key: "${K:-canary-secret}"\n',
  ],
  ['warning: a variable without a name', 'server:\n  region: ${}\n'],
  ['warning: a variable with spaces', 'server:\n  region: ${ REGION }\n'],
  ['warning: a variable of a shell', 'providers:\n  - slug: openai\n    api_key: $(OPENAI_KEY)\n'],
  ['warning: a provider without a credential', 'providers:\n  - slug: openai\n'],
  [
    'warning: a known provider at an own address without a model',
    'providers:\n  - slug: openai\n    base_url: http://127.0.0.1:9101/v1\n    api_key: ${PATH}\n',
  ],
  ['warning: an own provider without a model', ACME],
  [
    'warning: a preset with an unknown model',
    `${model('        tag: acme\n')}presets: { p: { model: acme/lrge } }\n`,
  ],
  [
    'warning: a model that no provider serves',
    `${model('        tag: acme\n')}  - id: a/b\n    endpoints:\n      - provider: openai\n`,
  ],
  [
    'a guardrail service that may take too long',
    'workspaces:\n  - slug: team\n    guardrails:\n      - { name: G, service: { url: "http://127.0.0.1:9/", timeout_ms: 61000 } }\n',
  ],
  [
    'a destination of a type that there is not',
    'workspaces:\n  - slug: team\n    destinations:\n      - { type: langfuze, name: Traces, config: {} }\n',
  ],
  [
    'three mistakes in the configuration of a destination',
    'workspaces:\n  - slug: team\n    destinations:\n      - type: langfuse\n        name: Traces\n        config:\n          publickey: ${PATH}\n          secretKey: ${SIGNALBOX_TEST_NOT_SET}\n          baseUrl: https://me:canary-secret@traces.example.com\n',
  ],
  [
    'three mistakes in destinations of one name',
    'workspaces:\n  - slug: team\n    destinations:\n      - { type: webhook, name: Hook, config: { url: "http://10.0.0.1:9/" } }\n      - type: webhook\n        name: Hook\n        config: { url: "http://10.0.0.1:9/", headers: { x-a: "a\\r\\nx-b: c" } }\n        filter_rules:\n          groups:\n            - rules: [{ field: model, operator: gt, value: 5 }]\n',
  ],
  [
    'a sixth destination of a type',
    `workspaces:\n  - slug: team\n    destinations:\n${[1, 2, 3, 4, 5, 6].map((n) => `      - { type: webhook, name: Hook ${n}, config: { url: "https://h.example/" } }\n`).join('')}`,
  ],
  [
    'three mistakes in classifiers of one workspace',
    'workspaces:\n  - slug: team\n    classifiers:\n      - name: Topics\n        model: a/b\n        dimensions:\n          - { name: model, values: [{ value: a }, { value: a }] }\n      - { name: Topics, model: a/b, is_active: false, dimensions: [{ name: topic, values: [{ value: a }] }] }\n',
  ],
  [
    'a second active classifier',
    'workspaces:\n  - slug: team\n    classifiers:\n      - { name: Topics, model: a/b, dimensions: [{ name: topic, values: [{ value: a }] }] }\n      - { name: Moods, model: a/b, dimensions: [{ name: mood, values: [{ value: a }] }] }\n',
  ],
  [
    'warning: a secret of a destination in the file',
    'workspaces:\n  - slug: team\n    destinations:\n      - type: clickhouse\n        name: Rows\n        config: { host: "https://ch.example.com", database: traces_of_2026, username: team_of_2026, password: canary-0123456789 }\n',
  ],
  [
    'warning: a model at a provider that is not switched on',
    'models:\n  - id: a/b\n    endpoints:\n      - provider: openai\n',
  ],
  [
    'warning: a workspace with an unknown model',
    `${model('        tag: acme\n')}workspaces:\n  - slug: team\n    default_text_model: acme/lrge\n`,
  ],
  [
    'warning: an image model without image output',
    `${model('        tag: acme\n')}tools: { image_generation: { model: acme/large } }\n`,
  ],
  [
    'warning: an image model that is unknown',
    `${model('        tag: acme\n')}tools: { image_generation: { model: acme/lagre } }\n`,
  ],
  ['warning: a secret in the file', 'providers:\n  - slug: openai\n    api_key: sk-canary-0123456789\n'],
  [
    'warning: a secret in a header',
    'providers:\n  - slug: openai\n    headers: { Authorization: Bearer canary-0123456789, X-Team: canary-0123456789 }\n',
  ],
  // --- Labels of MCP servers.
  [
    'a label has the separator of names',
    'tools:\n  mcp_servers:\n    a: { url: https://a.example/mcp }\n    a__b: { url: https://b.example/mcp }\n',
  ],
  ['a label ends with an underscore', 'tools:\n  mcp_servers:\n    a_: { url: https://a.example/mcp }\n'],
  [
    'a label is the beginning of an own tool',
    'tools:\n  mcp_servers:\n    experimental: { url: https://a.example/mcp }\n',
  ],
  [
    'a price for a mode that the engine does not have',
    'plugins: { web: { engines: { exa: { api_key: ${PATH}, price_per_search: { quick: 0.01 } } } } }\n',
  ],
  [
    'modes of an engine without modes',
    'plugins: { web: { engines: { searxng: { url: http://h, modes: [deep] } } } }\n',
  ],
];

/** Files whose bytes are no text in UTF-8. */
export const UNREADABLE: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['UTF-16', Buffer.from('\ufeffvendor: acme\n', 'utf16le')],
  ['UTF-16 without a mark', Buffer.from('vendor: acme\n', 'utf16le')],
  ['Latin-1', Buffer.from('providers:\n  - slug: openai\n    name: Caf\u00e9\n', 'latin1')],
  [
    'a secret in Latin-1',
    Buffer.from('providers:\n  - slug: openai\n    api_key: canary-\u00e9\n', 'latin1'),
  ],
];

/** A file with this many mistakes. */
export function manyMistakes(count: number): string {
  return `server:\n${Array.from({ length: count }, (_, at) => `  x${at}: 1\n`).join('')}`;
}
