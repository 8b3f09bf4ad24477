import { isJsonObject } from '../../kit/json/json.ts';
import { type Environment, unsetVariableIn } from './environment.ts';

/** Sections that only a serving gateway uses. */
const SERVING_SECTIONS: ReadonlySet<string> = new Set([
  'models',
  'plugins',
  'presets',
  'prompts',
  'storage',
  'tools',
  'workspaces',
]);

/** Sections that commands use: a variable that is not set is a problem there. */
const COMMAND_SECTIONS: ReadonlySet<string> = new Set([
  'keys',
  'credits',
  'durability',
  'retention',
  'egress',
]);

/** Sections that `catalog show` uses besides: the models of the file. */
export const CATALOGUE_SECTIONS: ReadonlySet<string> = new Set(['models']);

/**
 * The part of a file that a command needs. Provider secrets are in the environment of the gateway, not in that of the
 * command's user, so values with a variable that is not set are left out.
 */
export function commandSections(
  file: object,
  environment: Environment,
  also: ReadonlySet<string> = new Set(),
): object {
  const sections = Object.entries(file).filter(([name]) => !SERVING_SECTIONS.has(name) || also.has(name));
  return Object.fromEntries(
    sections.map(([name, section]) => [
      name,
      COMMAND_SECTIONS.has(name) ? section : withoutUnset(section, environment),
    ]),
  );
}

function withoutUnset(value: unknown, environment: Environment): unknown {
  const isSet = (member: unknown) =>
    typeof member !== 'string' || unsetVariableIn(member, environment) === undefined;
  if (Array.isArray(value)) return value.filter(isSet).map((item) => withoutUnset(item, environment));
  if (!isJsonObject(value)) return isSet(value) ? value : null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => isSet(member))
      .map(([name, member]) => [name, withoutUnset(member, environment)]),
  );
}
