import Type from 'typebox';
import { closed, described, nullish } from '../../kit/json/schema.ts';
import { modelId } from './catalog-members.ts';
import {
  bytes,
  count,
  label,
  milliseconds,
  requestHeaders,
  section,
  text,
  withDefault,
} from './key-kinds.ts';

/** USD; a higher price is a typing error. */
const MAX_USD_PER_RUN = 100;

const keyHash = Type.String({
  pattern: '^[a-f0-9]{64}$',
  explain: 'must be the hash of a key: 64 lower-case hex digits, as `signalbox keys list` shows it',
});

export const tools = section('Tools that the gateway runs for models.', {
  image_generation: described(
    'Generation of images; absent: not offered.',
    nullish(closed({ model: described('Model with image output.', modelId) })),
  ),
  sandbox: described(
    'Service that runs code for the tools bash, shell and code_interpreter; absent: they are not offered.',
    nullish(
      closed({
        url: described(
          'Its address, which may be private.',
          Type.String({
            pattern: '^https?://[^\\s/@]+(?:/[^\\s#?]*)?$',
            maxLength: 2048,
            explain:
              'must be an http or https address without a user name, for example http://127.0.0.1:8890',
          }),
        ),
        token: described('Token that is sent to it as `Authorization: Bearer`.', nullish(text(8192))),
        price_per_run: described(
          'USD that a run of code costs, reserved and charged like a search; `shell` runs each command by itself.',
          withDefault(Type.Number({ minimum: 0, maximum: MAX_USD_PER_RUN }), 0),
        ),
      }),
    ),
  ),
  mcp_servers: described(
    'MCP servers by name, which is the `server_label` of requests.',
    withDefault(
      Type.Record(
        Type.String(),
        described(
          'An MCP server.',
          closed({
            url: described(
              'Its address (streamable HTTP), which may be private.',
              Type.String({
                pattern: '^https?://[^\\s/@]+(?:/[^\\s#]*)?$',
                maxLength: 2048,
                explain:
                  'must be an http or https address without a user name, for example https://mcp.example.com/mcp',
              }),
            ),
            authorization: described(
              'Token that is sent to it as `Authorization: Bearer`; with a scheme before it, as it stands.',
              nullish(text(8192)),
            ),
            headers: described('Further headers of every request to it.', requestHeaders),
            description: described('What it is for: models read it with its tools.', nullish(text(2000))),
            allowed_tools: described(
              'Names of the tools that may be called; absent: all.',
              nullish(Type.Array(text(128), { maxItems: 1024 })),
            ),
            read_only: described(
              'Whether only tools may be called that the server marks as read-only.',
              withDefault(Type.Boolean(), false),
            ),
            all_accounts: described(
              'Keys of all accounts may use it, with the credential here; `workspaces` and `keys` then add nothing.',
              withDefault(Type.Boolean(), false),
            ),
            workspaces: described(
              'Workspaces whose keys may use it: ids, or slugs of the first account; absent, and no `keys`: all of the first account.',
              nullish(Type.Array(text(128), { minItems: 1, maxItems: 1000 })),
            ),
            keys: described(
              'Hashes of the keys that may use it, besides those of `workspaces`.',
              nullish(Type.Array(keyHash, { minItems: 1, maxItems: 1000 })),
            ),
          }),
        ),
        { propertyNames: label },
      ),
      {},
    ),
  ),
  limits: section('Bounds of one search, page or tool call.', {
    fetch_ms: described('Longest time of a fetch or a search.', milliseconds(10_000)),
    tool_ms: described(
      'Longest time of a tool that calls no models, or of all pages of a request.',
      milliseconds(60_000),
    ),
    read_bytes: described('Most bytes that are read from an address.', bytes(5_000_000)),
    result_characters: described(
      'Most characters of results that go into the prompt, of all pages together.',
      count(100_000),
    ),
    steps: described(
      'Most steps of a loop of tool calls.',
      withDefault(Type.Integer({ minimum: 1, maximum: 1000 }), 30),
    ),
  }),
});
