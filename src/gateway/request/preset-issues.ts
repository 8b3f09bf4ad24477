import type { Problem } from '../../config/problem.ts';
import type { ConversationFormat } from '../../dialects/dialect.ts';
import { FORMATS } from '../../dialects/dialects.ts';
import { applyPreset, type Presets } from '../../dialects/shared/presets/preset.ts';
import type { PresetForm } from '../../dialects/shared/presets/preset-form.ts';
import { isPresetMember, meaningOf, membersOf, putOf } from '../../dialects/shared/presets/preset-members.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsOf, stringAt } from '../../kit/json/members.ts';
import { compileValidator, type Issue, type Validator } from '../../kit/json/validate.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { parseBody } from './parse-body.ts';
import { refuseUnavailable } from './unavailable.ts';

/** Finds problems of presets; paths are below `presets`. */
export type PresetCheck = (presets: Presets, vendor: string) => Problem[];

const PRESET_FORMS = FORMATS.map(({ facts }) => facts.preset);

/**
 * A check that takes each preset through the steps that a request takes before routing, so that no request fails
 * because of the operator's preset. Caches compiled schemas.
 */
export function createPresetCheck(): PresetCheck {
  const validators = new Map<string, Validator>();
  const validatorOf = ({ name, inbound }: ConversationFormat, vendor: string): Validator => {
    const key = `${name} ${vendor}`;
    const validator = validators.get(key) ?? compileValidator(inbound.requestSchema(vendor));
    validators.set(key, validator);
    return validator;
  };
  return (presets, vendor) =>
    Object.entries(presets).flatMap(([slug, preset]) => {
      const naming = namingIssues(preset);
      const issues: readonly Problem[] =
        naming.length > 0
          ? naming
          : firstIssues((format) => requestIssues(format, slug, preset, vendor, validatorOf(format, vendor)));
      return issues.map((issue) => ({ ...issue, path: `presets.${slug}${issue.path}` }));
    });
}

/** Members that no format has a field for, and members that repeat another. */
function namingIssues(preset: JsonObject): Problem[] {
  const firsts = new Map<string, string>();
  return Object.keys(preset).flatMap((name): Problem[] => {
    const path = `.${name}`;
    if (!isPresetMember(name, PRESET_FORMS)) {
      const fields = PRESET_FORMS.flatMap((form) => [...form.fields]);
      const meant = nearestWord(
        name,
        fields.filter((field) => isPresetMember(field, PRESET_FORMS)),
      );
      const suggestion = meant === undefined ? '' : `; did you mean "${meant}"?`;
      return [{ path, message: `is not a field that a preset can have${suggestion}`, isAtKey: true }];
    }
    const meaning = meaningOf(name);
    const first = firsts.get(meaning);
    firsts.set(meaning, first ?? name);
    return first === undefined ? [] : [{ path, message: `says the same as ${first}: keep one of them` }];
  });
}

/** The issues of the first format that has any: the others would mostly repeat them. */
function firstIssues(issuesOf: (format: ConversationFormat) => Issue[]): Issue[] {
  for (const format of FORMATS) {
    const issues = issuesOf(format);
    if (issues.length > 0) return issues;
  }
  return [];
}

function requestIssues(
  { inbound, facts }: ConversationFormat,
  slug: string,
  preset: JsonObject,
  vendor: string,
  validator: Validator,
): Issue[] {
  const own: JsonObject = { ...facts.minimalRequest, preset: slug };
  const withModel = membersOf(preset).some(({ name }) => name === 'model' || name === 'models');
  const issues = issuesThrown(() => {
    const body = applyPreset(facts.preset, withModel ? own : { ...own, model: 'any' }, { [slug]: preset });
    const problems = validator.issuesOf(body);
    if (problems.length > 0) throw invalidRequest(problems);
    refuseUnavailable(parseBody(body, inbound, { vendor }), vendor);
  });
  return issues.map(({ path, message }) => ({ path: memberPath(path, facts.preset, preset), message }));
}

function issuesThrown(run: () => void): Issue[] {
  try {
    run();
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const issues = objectsOf(error.metadata?.issues).map((issue) => ({
      path: stringAt(issue, 'path') ?? '',
      message: stringAt(issue, 'message') ?? error.message,
    }));
    return issues.length > 0 ? issues : [{ path: '', message: error.message }];
  }
}

/** The operator's member for a path in the request. */
function memberPath(path: string, form: PresetForm, preset: JsonObject): string {
  const field = /^[\w-]*/.exec(path)?.[0] ?? '';
  const writer = membersOf(preset).find(({ name, value }) =>
    Object.hasOwn(putOf(name, form)?.(value, {}) ?? {}, field),
  );
  if (writer === undefined) return path === '' ? '' : `.${path}`;
  return writer.name === field ? `.${path}` : `.${writer.name}`;
}
