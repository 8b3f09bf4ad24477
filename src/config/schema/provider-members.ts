import Type from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import { providerSlug } from './catalog-members.ts';
import { milliseconds, requestHeaders, section, text } from './key-kinds.ts';

/** Wire dialects by their names in the file. */
export const DIALECT_WORDS = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'google-gemini',
  'aws-bedrock',
  'simulator',
] as const;

export const provider = closed({
  slug: described('Name of the provider in this file, in routing preferences and in the log.', providerSlug),
  name: described('Name for display; absent: that of the built-in table, or the slug.', nullish(text(100))),
  dialect: described(
    'Wire format that the provider speaks; absent: that of the built-in table.',
    nullish(oneOf(DIALECT_WORDS)),
  ),
  base_url: described(
    "Address before the dialect's own path, such as http://127.0.0.1:9101/v1; absent: that of the built-in table.",
    nullish(text(2048)),
  ),
  api_key: described(
    `Credential: a plain key, or JSON for Bedrock, Vertex and Azure. \${NAME} reads it from the environment.`,
    nullish(text(65_536)),
  ),
  headers: described('Headers that are added to each call.', requestHeaders),
  unpriced: described(
    'Tools that it runs and has no price for, for keys that a limit covers: allow or refuse; absent: refuse.',
    nullish(oneOf(['allow', 'refuse'])),
  ),
  data_policy: described(
    'What the provider does with prompts; absent: that of the built-in table, else taken as training and keeping.',
    nullish(
      closed({
        training: described('Whether it trains on prompts.', Type.Boolean()),
        retains_prompts: described('Whether it keeps prompts.', Type.Boolean()),
      }),
    ),
  ),
  takes: described(
    'What it takes of anthropic-messages that not every server of the dialect knows; absent: as the built-in table says.',
    nullish(
      closed({
        system_turns: described(
          'Whether it takes messages of the role `system` inside `messages`, with `clear_at`. If not, they go out as user text.',
          nullish(Type.Boolean()),
        ),
        callers_version: described(
          'Whether it gets the `anthropic-version` that the caller names. If not, it gets 2023-06-01.',
          nullish(Type.Boolean()),
        ),
      }),
    ),
  ),
  timeouts_ms: section('Time limits of one call to the provider.', {
    connect: described('Until the connection is open.', milliseconds(10_000)),
    first_byte: described(
      'From the request until the first byte of a stream. Models with reasoning and whole answers have `total`.',
      milliseconds(120_000),
    ),
    idle: described('Between two pieces of the answer.', milliseconds(120_000)),
    total: described('For the whole call.', milliseconds(600_000)),
  }),
});
