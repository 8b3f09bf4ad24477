import { conversationForm } from '../../../ir/format-facts.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { RequestField } from '../../../ir/settings.ts';
import { isJsonObject } from '../../../kit/json/json.ts';
import type { RenderTarget } from '../../dialect.ts';
import { REQUEST_FIELDS, type Report } from './report.ts';

/** The loss report: each dialect has one table with the fate of every request field, which this file reads. */
export type FieldFates = Readonly<Record<RequestField, FieldFate>>;

export type FieldFate = Rendered | Dropped | DroppedInPart;

/** The renderer sends the field, and reports changes and losses itself. */
interface Rendered {
  readonly fate: 'rendered';
  /** Names in `supported_parameters`: an endpoint takes the field if it lists one. Empty = every endpoint takes it. */
  readonly parameters: readonly string[];
  /** An endpoint without a list takes the field only if this is false. */
  readonly mustBeListed: boolean;
}

interface Dropped {
  readonly fate: 'dropped';
  readonly detail: string;
  /** True for a value that means the same as its absence: dropped without an entry. */
  readonly isHarmless: (value: unknown) => boolean;
}

/** The field is a list, and the dialect has only some of its members. */
interface DroppedInPart {
  readonly fate: 'dropped-in-part';
  readonly detail: string;
  readonly kept: readonly unknown[];
  /** If no member is kept, one entry names the list instead of each member. */
  readonly namesWholeList: boolean;
}

// --- The words of a table -------------------------------------------------------------------------------------------

/** Sent to endpoints that list one of the parameters or list none at all. */
export function rendered(...parameters: string[]): FieldFate {
  return { fate: 'rendered', parameters, mustBeListed: false };
}

/** Sent only to endpoints that list the parameter. */
export function renderedIfListed(parameter: string): FieldFate {
  return { fate: 'rendered', parameters: [parameter], mustBeListed: true };
}

export function dropped(detail: string, isHarmless: Dropped['isHarmless'] = () => false): FieldFate {
  return { fate: 'dropped', detail, isHarmless };
}

export function droppedExcept(
  kept: readonly string[],
  detail: string,
  { namesWholeList = false } = {},
): FieldFate {
  return { fate: 'dropped-in-part', detail, kept, namesWholeList };
}

/** Harmless: one of these values. */
export function is(...values: unknown[]): Dropped['isHarmless'] {
  return (value) => values.includes(value);
}

/** Harmless: a list of this value alone. */
export function isOnly(member: unknown): Dropped['isHarmless'] {
  return (value) => Array.isArray(value) && value.every((each) => each === member);
}

/** Harmless: an object without members. */
export function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

// --- Its readers ----------------------------------------------------------------------------------------------------

export function reportDroppedFields(request: GenerationRequest, fates: FieldFates, report: Report): void {
  for (const field of REQUEST_FIELDS) {
    const fate = fates[field];
    if (fate.fate === 'rendered') continue;
    // Formats that request log probabilities in `include` have the loss reported there.
    if (field === 'logprobs' && conversationForm(request.formatFacts).asksLogprobsInInclude === true)
      continue;
    const value = fieldValue(request, field);
    if (value === undefined) continue;
    if (fate.fate === 'dropped-in-part') reportDroppedMembers(field, value, fate, report);
    else if (!fate.isHarmless(value)) report.dropped(report.name(field), fate.detail);
  }
}

function reportDroppedMembers(
  field: RequestField,
  value: unknown,
  fate: DroppedInPart,
  report: Report,
): void {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const lost = [...list.keys()].filter((index) => !fate.kept.includes(list[index]));
  if (lost.length === 0) return;
  const isWhole = fate.namesWholeList && lost.length === list.length;
  for (const place of isWhole ? [''] : lost.map((index) => `[${index}]`)) {
    report.dropped(report.name(field, place), fate.detail);
  }
}

/** The value of a field. Sampling settings are in an object of their own. */
export function fieldValue(request: GenerationRequest, field: RequestField): unknown {
  const settings: Readonly<Partial<Record<RequestField, unknown>>> = request;
  const sampling: Readonly<Partial<Record<RequestField, unknown>>> = request.sampling;
  return settings[field] ?? sampling[field];
}

export function isTaken(
  fate: FieldFate,
  { supportedParameters: listed }: Pick<RenderTarget, 'supportedParameters'>,
): boolean {
  if (fate.fate !== 'rendered') return false;
  if (listed === undefined) return !fate.mustBeListed;
  return fate.parameters.length === 0 || fate.parameters.some((name) => listed.has(name));
}

export const NO_FIELD = 'the upstream has no such field';

/** Report detail of a field that the endpoint does not list. */
export const NOT_TAKEN = 'the endpoint does not take this parameter';
