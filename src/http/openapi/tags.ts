/** The groups of operations, in the order of the description, with what each is for. */
export const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = {
  Generation:
    'Ask a model, in the format of your client: responses, messages or chat completions. Any model can be asked in ' +
    'any of the three. With `"stream": true` the answer comes as server-sent events.',
  Routing: 'See which endpoints would serve a request, in which order, and why others would not.',
  MCP:
    'Tools for any client of the Model Context Protocol (streamable HTTP): those of the gateway, and those of the ' +
    'MCP servers that the key may use. Each call is recorded like a generation.',
  Generations:
    'Look up what became of a generation: tokens, cost, attempts, and its content where that is kept.',
  Catalogue: 'Models that can be asked for, their endpoints with prices and limits, and all known providers.',
  Keys:
    'Make, limit and revoke API keys. A key is shown once, when it is made; afterwards its SHA-256 is its id. ' +
    'These operations need a management key, except the one that shows the key of the request.',
  Sessions:
    'Sign in to the console: a browser exchanges a key for a cookie that lasts eight hours. Requests with the cookie ' +
    'need the header `X-Console-Session: 1`; with `X-Console-Key`, the hash of a key of the account, a session of a ' +
    'management key sends generations as that key.',
  Files: 'Store files once and name them in requests by their id.',
  Datasets: 'Rankings of apps and models over all accounts of this gateway.',
  Analytics: 'What the account used: by model, key, app, time and more.',
  BYOK: 'Credentials that the account brings for providers (bring your own key). They are stored encrypted and never shown.',
  Workspaces: 'Groups of keys with budgets of their own.',
  Members:
    'The people of an account and their roles in workspaces; keys that they made stop working with them.',
  Guardrails:
    'Rules for requests and answers: models, providers, budgets and filters of content. They hold for keys, for ' +
    'the keys of a member, for a workspace (`default_guardrail_id`) or for the account (`default`).',
  Observability:
    'Where generations are sent as traces once they are over. They are sent while the workspace has ' +
    '`is_observability_broadcast_enabled`.',
  Classifiers:
    'A classifier asks a model about the generations of a workspace once they are over, and tags them with its ' +
    'answers. Analytics group and filter by these tags.',
  Credits: 'The balance of the account. The operator of the gateway sets it.',
  Gateway:
    'The state of the installation: providers, endpoints, configuration, presets and prices. For management keys of ' +
    'the first account, which is that of the operator.',
  Operation: 'Probes, metrics and this description, for those who run the gateway.',
};
