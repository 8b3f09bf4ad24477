import Type from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
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
  field: oneOf(FILTER_FIELD_NAMES),
  operator: oneOf(FILTER_OPERATOR_NAMES),
  value: nullish(
    Type.Union([Type.String({ maxLength: DESTINATION_LIMITS.ruleValueCharacters }), Type.Number()]),
  ),
});

const filterRules = closed({
  enabled: flag,
  groups: Type.Array(
    closed({
      logic: nullish(oneOf(['and', 'or'])),
      rules: Type.Array(rule, { minItems: 1, maxItems: DESTINATION_LIMITS.rulesInGroup }),
    }),
    { maxItems: DESTINATION_LIMITS.filterGroups },
  ),
});

export const destination = closed({
  type: oneOf(DESTINATION_TYPE_NAMES),
  name: readable(DESTINATION_LIMITS.nameCharacters),
  // Its members are those of the type: the check of declarations finds what is wrong with them.
  config: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Record(Type.String(), Type.String()), Type.Null()]),
  ),
  enabled: flag,
  privacy_mode: flag,
  sampling_rate: nullish(Type.Number({ minimum: 0.0001, maximum: 1 })),
  api_key_hashes: nullish(Type.Array(keyHash, { minItems: 1, maxItems: DESTINATION_LIMITS.keys })),
  filter_rules: nullish(filterRules),
  broadcast_generation_cost: flag,
  broadcast_generation_identity: flag,
  broadcast_generation_request_context: flag,
});
