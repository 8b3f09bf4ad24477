import Type from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import {
  DESTINATION_LIMITS,
  DESTINATION_TYPE_NAMES,
  FILTER_FIELD_NAMES,
  FILTER_OPERATOR_NAMES,
} from '../../ports/following/destinations.ts';
import { keyHash, readable } from './workspace-texts.ts';

/** The schema of a destination in the configuration file. Members are named as in the management API. */

const flag = nullish(Type.Boolean());

const rule = closed({
  field: described('What of the generation is compared.', oneOf(FILTER_FIELD_NAMES)),
  operator: described('How it is compared.', oneOf(FILTER_OPERATOR_NAMES)),
  value: described(
    'What the field is compared with; exists and not_exists take none.',
    nullish(Type.Union([Type.String({ maxLength: DESTINATION_LIMITS.ruleValueCharacters }), Type.Number()])),
  ),
});

const filterRules = closed({
  enabled: described('Whether the rules are applied; absent: yes.', flag),
  groups: described(
    'Groups of rules; none: all generations are sent.',
    Type.Array(
      closed({
        logic: described(
          'Whether all rules must hold (and) or one of them (or); absent: and.',
          nullish(oneOf(['and', 'or'])),
        ),
        rules: described(
          'Rules of the group.',
          Type.Array(rule, { minItems: 1, maxItems: DESTINATION_LIMITS.rulesInGroup }),
        ),
      }),
      { maxItems: DESTINATION_LIMITS.filterGroups },
    ),
  ),
});

export const destination = closed({
  type: described('What receives the traces.', oneOf(DESTINATION_TYPE_NAMES)),
  name: described(
    'Name of the destination. Tells those of one type in a workspace apart.',
    readable(DESTINATION_LIMITS.nameCharacters),
  ),
  // Its members are those of the type: the check of declarations finds what is wrong with them.
  config: described(
    'What the type needs, such as its address and its key, by the names of the API. The address may be private. ' +
      'Secrets come from the environment, and are stored encrypted.',
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Record(Type.String(), Type.String()), Type.Null()]),
    ),
  ),
  enabled: described('Whether it is sent anything; absent: yes.', flag),
  privacy_mode: described('Whether prompts and answers are left out; absent: no.', flag),
  sampling_rate: described(
    'Share of the sessions that are sent; absent: 1.',
    nullish(Type.Number({ minimum: 0.0001, maximum: 1 })),
  ),
  api_key_hashes: described(
    'Hashes of the keys whose generations are sent; absent: those of all keys.',
    nullish(Type.Array(keyHash, { minItems: 1, maxItems: DESTINATION_LIMITS.keys })),
  ),
  filter_rules: described(
    'Sends only generations that any of the groups accepts; absent: all.',
    nullish(filterRules),
  ),
  broadcast_generation_cost: described(
    'Whether the cost of generations, upstream calls and tools is sent too; absent: no.',
    flag,
  ),
  broadcast_generation_identity: described(
    'Whether the id of the workspace and the hash and creator of the key are sent too; absent: no.',
    flag,
  ),
  broadcast_generation_request_context: described(
    'Whether the id of the request, user agent, app, origin and preset are sent too; absent: no.',
    flag,
  ),
});
