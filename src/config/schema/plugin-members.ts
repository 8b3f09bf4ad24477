import Type from 'typebox';
import { closed, described, nullish } from '../../kit/json/schema.ts';
import { modelId, providerSlug } from './catalog-members.ts';
import { section, text, withDefault } from './key-kinds.ts';

const modelPattern = Type.String({
  pattern: '^[A-Za-z0-9._~:/+*-]{1,1024}$',
  explain: 'is no pattern of model ids: letters, digits, ".", "_", "-", ":", "/", "+", and "*" for any run',
});

const panel = Type.Array(modelId, { minItems: 1, maxItems: 8 });
const fusionPreset = closed({
  panel: described('Models that answer, 1 to 8.', nullish(panel)),
  judge: described(
    'Model that compares their answers; the first of the panel if left out.',
    nullish(modelId),
  ),
});

/** USD; a higher price is a typing error. */
const MAX_USD_PER_PAGE = 100;
const MAX_USD_PER_SEARCH = 100;

const usdPerSearch = Type.Number({ minimum: 0, maximum: MAX_USD_PER_SEARCH });

const searchEngine = closed({
  api_key: described('Credential of the engine; searxng needs none.', nullish(text(8192))),
  url: described(
    'Address that replaces its own, without the path; searxng has none of its own.',
    nullish(text(2048)),
  ),
  price_per_search: described(
    'USD that a search of up to ten results costs, or USD by mode (`{auto: 0.007, deep: 0.012}`): a mode without a ' +
      'price costs the highest. Absent: the `web_search` price of the endpoint, else nothing.',
    nullish(
      Type.Union([
        usdPerSearch,
        Type.Record(Type.String(), described('USD that a search in this mode costs.', usdPerSearch)),
      ]),
    ),
  ),
  price_per_result: described(
    'USD that each result beyond ten costs, of those that the engine is asked for; absent: nothing.',
    nullish(usdPerSearch),
  ),
  modes: described(
    'Modes that callers may choose. Absent: those with a price of their own, and those that the engine bills like its usual one.',
    nullish(Type.Array(text(64), { minItems: 1, maxItems: 64 })),
  ),
});

export const plugins = section('Settings of routers and plugins.', {
  'auto-router': described(
    'The router signalbox/auto.',
    nullish(
      closed({
        models: described(
          'Patterns of the model ids that it may choose, such as acme/*; absent: all.',
          nullish(Type.Array(modelPattern, { maxItems: 1024 })),
        ),
      }),
    ),
  ),
  fusion: described(
    'Models of fusion: several answer, one compares their answers. What is left out is chosen.',
    nullish(
      closed({
        panel: described('Models that answer, 1 to 8.', nullish(panel)),
        judge: described(
          'Model that compares their answers. It is the one behind signalbox/fusion.',
          nullish(modelId),
        ),
        presets: described(
          'Panels and judges by the name that a request gives.',
          nullish(
            closed({
              'general-high': described('Panel and judge of the best preset.', nullish(fusionPreset)),
              'general-budget': described('Panel and judge of the cheapest preset.', nullish(fusionPreset)),
              'general-fast': described('Panel and judge of the fastest preset.', nullish(fusionPreset)),
            }),
          ),
        ),
      }),
    ),
  ),
  web: described(
    'Web search.',
    nullish(
      closed({
        engines: described(
          'Search engines by name: exa, tavily, brave, firecrawl, parallel, perplexity, searxng.',
          withDefault(
            Type.Record(Type.String(), described('A search engine.', searchEngine), {
              propertyNames: {
                type: 'string',
                pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
                explainPattern: 'must be 1 to 64 of a-z, 0-9, "_" and "-", beginning with a letter or digit',
              },
            }),
            {},
          ),
        ),
        default: described(
          'Engine for requests that name none: one of engines, auto or native; absent: native, else the first.',
          nullish(text(64)),
        ),
      }),
    ),
  ),
  moderation: described(
    'The service that the plugin `moderation` asks: `/moderations` of a provider.',
    nullish(
      closed({
        provider: described('Slug of the provider.', providerSlug),
        model: described("The provider's name of the moderation model.", text(256)),
      }),
    ),
  ),
  'file-parser': described(
    'Settings of the plugin `file-parser`.',
    nullish(
      closed({
        ocr: described(
          'The service of the engine `mistral-ocr`: `/ocr` of a provider.',
          nullish(
            closed({
              provider: described('Slug of the provider.', providerSlug),
              model: described("The provider's name of the model.", text(256)),
              price_per_page: described(
                'USD that a page costs: charged to the request that has the file read. A text that is already known costs ' +
                  'nothing. Absent: not known, so that keys with a limit or a balance are refused; 0: free.',
                nullish(Type.Number({ minimum: 0, maximum: MAX_USD_PER_PAGE })),
              ),
            }),
          ),
        ),
      }),
    ),
  ),
});
