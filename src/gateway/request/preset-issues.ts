import { INBOUND_DIALECTS } from '../../dialects/dialects.ts';
import { applyPreset, type Presets } from '../../dialects/shared/presets/preset.ts';
import { membersOf, presetMember } from '../../dialects/shared/presets/preset-members.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Format } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsOf, stringAt } from '../../kit/json/members.ts';
import { compileValidator, type Issue, type Validator } from '../../kit/json/validate.ts';
import { refuseUnavailable } from './unavailable.ts';

/** Finds what is wrong with presets; paths are below `presets`. */
export type PresetCheck = (presets: Presets, vendor: string) => Issue[];

/** The least that a request of each format says. */
const LEAST_REQUESTS: Readonly<Record<Format, JsonObject>> = {
  responses: { input: 'Hello' },
  messages: { messages: [{ role: 'user', content: 'Hello' }] },
  chat: { messages: [{ role: 'user', content: 'Hello' }] },
};

const FORMATS = Object.keys(LEAST_REQUESTS) as Format[];

/**
 * A check that sends each preset through what a request goes through before it is routed, so that no request fails for
 * what the operator wrote. Keeps what it compiles for the next time.
 */
export function createPresetCheck(): PresetCheck {
  const validators = new Map<string, Validator>();
  const validatorOf = (format: Format, vendor: string): Validator => {
    const key = `${format} ${vendor}`;
    const validator = validators.get(key) ?? compileValidator(INBOUND_DIALECTS[format].requestSchema(vendor));
    validators.set(key, validator);
    return validator;
  };
  return (presets, vendor) =>
    Object.entries(presets).flatMap(([slug, preset]) => {
      const naming = namingIssues(preset);
      const issues =
        naming.length > 0
          ? naming
          : firstIssues(FORMATS, (format) =>
              requestIssues(format, slug, preset, vendor, validatorOf(format, vendor)),
            );
      return issues.map(({ path, message }) => ({ path: `presets.${slug}${path}`, message }));
    });
}

/** Members that nobody knows, and those that say the same as another. */
function namingIssues(preset: JsonObject): Issue[] {
  const firsts = new Map<string, string>();
  return Object.keys(preset).flatMap((name): Issue[] => {
    const member = presetMember(name);
    const path = `.${name}`;
    if (member === undefined) return [{ path, message: 'is not a field that a preset can have' }];
    const meaning = member.names[0] ?? name;
    const first = firsts.get(meaning);
    firsts.set(meaning, first ?? name);
    return first === undefined ? [] : [{ path, message: `says the same as ${first}: keep one of them` }];
  });
}

/** The issues of the first format that has any: the others would mostly repeat them. */
function firstIssues(formats: readonly Format[], issuesOf: (format: Format) => Issue[]): Issue[] {
  for (const format of formats) {
    const issues = issuesOf(format);
    if (issues.length > 0) return issues;
  }
  return [];
}

function requestIssues(
  format: Format,
  slug: string,
  preset: JsonObject,
  vendor: string,
  validator: Validator,
): Issue[] {
  const own: JsonObject = { ...LEAST_REQUESTS[format], preset: slug };
  const withModel = membersOf(preset).some(({ name }) => name === 'model' || name === 'models');
  const issues = issuesThrown(() => {
    const body = applyPreset(format, withModel ? own : { ...own, model: 'any' }, { [slug]: preset });
    const problems = validator.issuesOf(body);
    if (problems.length > 0) throw invalidRequest(problems);
    refuseUnavailable(INBOUND_DIALECTS[format].parseRequest(body, { vendor }), vendor);
  });
  return issues.map(({ path, message }) => ({ path: memberPath(path, format, preset), message }));
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

/** Where the operator wrote what stands at a place of a request. */
function memberPath(path: string, format: Format, preset: JsonObject): string {
  const field = /^[\w-]*/.exec(path)?.[0] ?? '';
  const writer = membersOf(preset).find(({ value, member }) =>
    Object.hasOwn(member.put[format]?.(value, {}) ?? {}, field),
  );
  if (writer === undefined) return path === '' ? '' : `.${path}`;
  return writer.name === field ? `.${path}` : `.${writer.name}`;
}
