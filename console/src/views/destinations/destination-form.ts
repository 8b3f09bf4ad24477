import type {
  CreateDestination,
  DestinationObject,
  DestinationTypeObject,
  DestinationTypes,
  UpdateDestination,
} from '../../api/contract.ts';
import { linesOf } from '../../parts/form/fields.tsx';
import type { Problems } from '../../parts/form/use-form.ts';

type Groups = NonNullable<CreateDestination['filter_rules']>['groups'];
type Rule = Groups[number]['rules'][number];

/** A rule as it is typed. */
export interface RuleText {
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

/** Rules that are joined, as they are typed. */
export interface GroupText {
  readonly logic: 'and' | 'or';
  readonly rules: readonly RuleText[];
}

/** Names the field of a member of the configuration, as refusals do. */
export type ConfigField = `config.${string}`;

/** The fields of a destination. Those with names of the interface are shown its refusals. */
export interface DestinationValues {
  readonly type: string;
  readonly name: string;
  readonly workspace_id: string;
  /** A secret that is empty in a change stays. */
  readonly [member: ConfigField]: string;
  readonly privacy_mode: boolean;
  /** Per cent. */
  readonly sampling_rate: string;
  /** One a line; empty = all. */
  readonly api_key_hashes: string;
  /** None = all generations. */
  readonly filter_rules: readonly GroupText[];
  readonly broadcast_generation_cost: boolean;
  readonly broadcast_generation_identity: boolean;
  readonly broadcast_generation_request_context: boolean;
  /** Has a workspace send that does not yet. */
  readonly switches_workspace_on: boolean;
}

export const SWITCHES = [
  'privacy_mode',
  'broadcast_generation_cost',
  'broadcast_generation_identity',
  'broadcast_generation_request_context',
] as const;

export function destinationValues(
  destination: DestinationObject | null,
  type: DestinationTypeObject | undefined,
  workspaceId: string,
): DestinationValues {
  const config = (type?.members ?? []).map(({ name, is_secret: isSecret, default: fallback }) => [
    `config.${name}`,
    isSecret ? '' : String(destination?.config[name] ?? fallback ?? ''),
  ]);
  return {
    ...Object.fromEntries(config),
    type: type?.type ?? '',
    name: destination?.name ?? '',
    workspace_id: destination?.workspace_id ?? workspaceId,
    sampling_rate: String(Number(((destination?.sampling_rate ?? 1) * 100).toFixed(4))),
    api_key_hashes: (destination?.api_key_hashes ?? []).join('\n'),
    filter_rules: (destination?.filter_rules?.groups ?? []).map(({ logic, rules }) => ({
      logic,
      rules: rules.map(({ field, operator, value }) => ({ field, operator, value: String(value ?? '') })),
    })),
    switches_workspace_on: destination === null,
    ...(Object.fromEntries(SWITCHES.map((name) => [name, destination?.[name] ?? false])) as Pick<
      DestinationValues,
      (typeof SWITCHES)[number]
    >),
  };
}

const MIN_PERCENT = 0.01;

export function destinationProblems(
  values: DestinationValues,
  type: DestinationTypeObject | undefined,
  isNew: boolean,
): Problems<DestinationValues> {
  const percent = Number(values.sampling_rate);
  const isPercent = values.sampling_rate.trim() !== '' && percent >= MIN_PERCENT && percent <= 100;
  const missing = (type?.members ?? []).filter(
    ({ name, is_required: isRequired, is_secret: isSecret }) =>
      isRequired && (isNew || !isSecret) && textOf(values, name) === '',
  );
  return {
    ...Object.fromEntries(missing.map(({ name }) => [`config.${name}`, 'It is needed.'])),
    ...(values.name.trim() === '' && { name: 'Give it a name.' }),
    ...(!isPercent && { sampling_rate: `A number from ${MIN_PERCENT} to 100.` }),
  };
}

/** The body of `POST /observability/destinations`. */
export function createBody(
  values: DestinationValues,
  type: DestinationTypeObject,
  fields: DestinationTypes['filter_fields'],
): CreateDestination {
  const config = type.members.filter(({ name }) => textOf(values, name) !== '');
  return {
    type: values.type as CreateDestination['type'],
    workspace_id: values.workspace_id,
    config: configOf(values, config),
    ...members(values, fields),
  };
}

/** The body of `PATCH /observability/destinations/{id}`: what differs. */
export function updateBody(
  values: DestinationValues,
  type: DestinationTypeObject,
  fields: DestinationTypes['filter_fields'],
  destination: DestinationObject,
): UpdateDestination {
  const before = destinationValues(destination, type, '');
  const changed = Object.entries(members(values, fields)).filter(
    ([name, value]) =>
      JSON.stringify(members(before, fields)[name as keyof object]) !== JSON.stringify(value),
  );
  const config = type.members.filter(({ name }) => textOf(values, name) !== textOf(before, name));
  return {
    ...Object.fromEntries(changed),
    ...(config.length > 0 && { config: configOf(values, config) }),
  };
}

/** The members that create and change have in common. */
function members(values: DestinationValues, fields: DestinationTypes['filter_fields']) {
  const hashes = linesOf(values.api_key_hashes);
  const groups = values.filter_rules.filter(({ rules }) => rules.length > 0);
  return {
    name: values.name.trim(),
    sampling_rate: Number((Number(values.sampling_rate) / 100).toFixed(6)),
    api_key_hashes: hashes.length === 0 ? null : hashes,
    filter_rules: groups.length === 0 ? null : { enabled: true, groups: groupsOf(groups, fields) },
    ...(Object.fromEntries(SWITCHES.map((name) => [name, values[name]])) as Pick<
      DestinationValues,
      (typeof SWITCHES)[number]
    >),
  };
}

function groupsOf(groups: readonly GroupText[], fields: DestinationTypes['filter_fields']): Groups {
  return groups.map(({ logic, rules }) => ({
    logic,
    rules: rules.map(({ field, operator, value }) => {
      const known = fields.find(({ name }) => name === field);
      const needsValue = known?.operators.find(({ name }) => name === operator)?.needs_value ?? true;
      // What is no number is sent as it was typed: the gateway says what is wrong with it.
      const number = known?.is_number === true && value.trim() !== '' ? Number(value) : Number.NaN;
      return {
        field: field as Rule['field'],
        operator: operator as Rule['operator'],
        ...(needsValue && { value: Number.isNaN(number) ? value : number }),
      };
    }),
  }));
}

/** Members of the configuration as the interface takes them; an empty one is removed. */
function configOf(values: DestinationValues, config: DestinationTypeObject['members']) {
  return Object.fromEntries(
    config.map(({ name, kind }) => {
      const text = textOf(values, name);
      return [name, text === '' ? null : kind === 'headers' ? headersOf(text) : text];
    }),
  );
}

function textOf(values: DestinationValues, member: string): string {
  return (values[`config.${member}`] ?? '').trim();
}

/** Headers, one a line: what stands before the first colon is the name. */
export function headersOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
