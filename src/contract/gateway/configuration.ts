import Type, { type Static } from 'typebox';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';

const problemSchema = Type.Object({
  path: Type.String({ description: 'The key; empty if the problem is of the whole file.' }),
  message: Type.String(),
  line: nullable(Type.Integer(), { description: 'Line of the file.' }),
  hint: nullable(Type.String()),
});

export type ConfigurationProblem = Static<typeof problemSchema>;

const valueSchema = Type.Object({
  key: Type.String({ description: 'Its path. What flags and environment decide begins with `runtime.`.' }),
  value: Type.Unknown({ description: 'A secret is masked.' }),
  source: Type.Object({
    kind: oneOf(['default', 'file', 'environment', 'flag']),
    line: nullable(Type.Integer(), { description: 'Line of the file.' }),
    variables: Type.Array(Type.String()),
    flag: nullable(Type.String()),
  }),
});

export type ConfigurationValue = Static<typeof valueSchema>;

export const configurationSchema = Type.Object({
  file: nullable(Type.String(), { description: 'Null = there is none.' }),
  in_force_since: Type.String({ format: 'date-time' }),
  last_reload: nullable(
    Type.Object({
      at: Type.String({ format: 'date-time' }),
      is_accepted: Type.Boolean({
        description: 'False: the file was refused, and the configuration before stays.',
      }),
      problems: Type.Array(problemSchema),
      waiting_keys: Type.Array(Type.String(), { description: 'Changed keys that need a restart.' }),
    }),
    { description: 'The last reading of the file after the start; null = none.' },
  ),
  warnings: Type.Array(problemSchema, { description: 'Settings without effect, or likely mistakes.' }),
  total_count: Type.Integer({
    description: 'Values in force; more than `values` has if there are very many.',
  }),
  values: Type.Array(valueSchema),
});

export type ConfigurationObject = Static<typeof configurationSchema>;

export const configurationReplySchema = Type.Object({ data: configurationSchema });

export const configurationQuerySchema = closed({
  section: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Values whose key begins with this word alone, such as `server`.',
    }),
  ),
});

const findingSchema = Type.Object({
  check: Type.String({ description: 'The check that found it.' }),
  verdict: oneOf(['ok', 'warning', 'problem']),
  what: Type.String(),
  mend: nullable(Type.String(), { description: 'What to do about it.' }),
});

export type FindingObject = Static<typeof findingSchema>;

export const findingsSchema = Type.Object({
  at: Type.String({
    format: 'date-time',
    description: 'When the checks ran; they run at most every 30 seconds.',
  }),
  verdict: oneOf(['ok', 'warning', 'problem'], { description: 'The worst of all.' }),
  findings: Type.Array(findingSchema),
});

export type FindingsObject = Static<typeof findingsSchema>;

export const findingsReplySchema = Type.Object({ data: findingsSchema });

const presetSchema = Type.Object({
  slug: Type.String(),
  fields: Type.Record(Type.String(), Type.Unknown(), { description: 'Fields of requests that it sets.' }),
});

export type PresetObject = Static<typeof presetSchema>;

export const presetListSchema = Type.Object({ data: Type.Array(presetSchema) });
