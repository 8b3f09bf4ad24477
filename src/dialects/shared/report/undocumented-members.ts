import type { TranslationEntry } from '../../../ir/metadata.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { UNDOCUMENTED, UNKNOWN_VALUE } from './foreign-members.ts';
import { MADE_HERE, PASSED_ON, VALUE_PASSED_ON } from './passed-on-fields.ts';
import { Report } from './report.ts';

/**
 * Entries for members below the top level, and for values, that the request's format does not document: passed on if
 * the rendered body has them, else dropped, or ignored if they were meant for the gateway. A member of the same name in
 * another format means something else, but a value that only this request knows has come from it. `told`: entries of
 * the report so far, which are not repeated.
 *
 * So that an unknown value is passed on, three things are needed. The schema of the format takes it (`openOneOf` and
 * `openUnion`). The parser keeps it, in `ext` or raw, because requests are translated for the same dialect too.
 * Renderers of other dialects leave it out, or send the nearest value that they have and report that. The entry
 * itself is made here.
 */
export function undocumentedEntries(
  request: GenerationRequest,
  { body, isOfFormat }: { readonly body: JsonObject; readonly isOfFormat: boolean },
  told: readonly TranslationEntry[],
): readonly TranslationEntry[] {
  const { undocumented = [], unknownFields } = request;
  const known = new Set([...unknownFields, ...told.map(({ field }) => field)]);
  const dropped = told.flatMap(({ field, action }) => (action === 'dropped' ? [field] : []));
  const left = undocumented.filter(({ path }) => !known.has(path) && !isInside(path, dropped));
  const sent = valuesOf(body, new Set(left.map(({ name }) => name)));
  const report = new Report(request);
  for (const { path, name, value, isValue, isForGateway } of left) {
    if (isForGateway) report.ignored(path, isValue ? 'not a known value' : 'not a known field');
    else if ((isOfFormat || isValue) && sent.get(name)?.has(comparable(value)))
      report.passedOn(path, isValue ? VALUE_PASSED_ON : PASSED_ON);
    else if (isOfFormat) report.dropped(path, MADE_HERE);
    else report.dropped(path, isValue ? UNKNOWN_VALUE : UNDOCUMENTED);
  }
  return report.entries;
}

function isInside(path: string, fields: readonly string[]): boolean {
  return fields.some((field) => path.startsWith(field) && /[.[]/.test(path.charAt(field.length)));
}

/** What stands for any list or object: one that was copied is another. */
const COMPOSITE = Symbol('composite');

function comparable(value: Json | undefined): Json | undefined | typeof COMPOSITE {
  return typeof value === 'object' && value !== null ? COMPOSITE : value;
}

/** Values of members with one of the names, and texts in such lists, anywhere in a body: members may have moved. */
function valuesOf(
  body: JsonObject,
  names: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<ReturnType<typeof comparable>>> {
  const values = new Map<string, Set<ReturnType<typeof comparable>>>();
  const visit = (value: Json | undefined) => {
    if (Array.isArray(value)) for (const element of value) visit(element);
    if (!isJsonObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if (names.has(name)) {
        const found = values.get(name) ?? new Set();
        values.set(name, found.add(comparable(member)));
        if (Array.isArray(member)) for (const element of member) found.add(comparable(element));
      }
      visit(member);
    }
  };
  if (names.size > 0) visit(body);
  return values;
}
