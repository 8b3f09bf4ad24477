import Type, { type Static } from 'typebox';
import type { ConfigMember } from '../../broadcast/config-members.ts';
import { DESTINATION_TYPES } from '../../broadcast/destination-types.ts';
import { FILTER_FIELDS } from '../../broadcast/filter-fields.ts';
import { FILTER_OPERATORS } from '../../broadcast/filter-rules.ts';
import { oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';

const configMember = Type.Object({
  name: Type.String(),
  description: Type.String(),
  kind: oneOf(['text', 'choice', 'headers']),
  is_required: Type.Boolean(),
  is_secret: Type.Boolean({ description: 'Stored encrypted, and shown masked.' }),
  default: nullable(Type.String(), { description: 'Its value where it is not given.' }),
  values: nullable(Type.Array(Type.String()), { description: 'Those of a choice.' }),
});

export const destinationTypesSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      type: Type.String(),
      label: Type.String({ description: 'For people.' }),
      members: Type.Array(configMember, { description: 'Of `config`.' }),
    }),
  ),
  filter_fields: Type.Array(
    Type.Object({
      name: Type.String(),
      operators: Type.Array(
        Type.Object({
          name: Type.String(),
          needs_value: Type.Boolean(),
        }),
      ),
      is_number: Type.Boolean({ description: 'Values of rules are numbers.' }),
    }),
    { description: 'What rules may name, and how it can be compared.' },
  ),
});

export type DestinationTypes = Static<typeof destinationTypesSchema>;
export type DestinationTypeObject = DestinationTypes['data'][number];
type MemberObject = DestinationTypeObject['members'][number];

export function destinationTypes(): DestinationTypes {
  return {
    data: Object.entries(DESTINATION_TYPES).map(([type, { label, members }]) => ({
      type,
      label,
      members: Object.entries(members).map(([name, member]) => memberObject(name, member)),
    })),
    filter_fields: Object.entries(FILTER_FIELDS).map(([name, { kind }]) => ({
      name,
      operators: Object.entries(FILTER_OPERATORS)
        .filter(([, { kinds }]) => kinds.includes(kind))
        .map(([operator, { needsValue }]) => ({ name: operator, needs_value: needsValue })),
      is_number: kind === 'number',
    })),
  };
}

function memberObject(name: string, member: ConfigMember): MemberObject {
  const { schema, isRequired, isSecret, fallback = null, description } = member;
  const values = 'enum' in schema ? (schema.enum as string[]) : null;
  return {
    name,
    description,
    kind: values !== null ? 'choice' : Type.IsString(schema) ? 'text' : 'headers',
    is_required: isRequired,
    is_secret: isSecret,
    default: fallback,
    values,
  };
}
