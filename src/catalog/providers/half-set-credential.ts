import type { Environment } from '../../config/parse/environment.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { ProviderRow } from './provider-table.ts';

/** Members of a credential that say where to call, not who calls: people set them for other reasons too. */
const PLACES: ReadonlySet<string> = new Set(['region', 'resource_name']);

/** Warns of a credential of which some variables are set and others are not. Never holds a value. */
export function halfSetWarning(
  slug: string,
  { keys = [] }: ProviderRow,
  environment: Environment,
): Issue | undefined {
  const [nearest] = keys
    .map((source) => (typeof source === 'string' ? {} : source))
    .map((members) => ({
      set: Object.entries(members).filter(([member, name]) => !PLACES.has(member) && environment[name]),
      missing: Object.values(members).filter((name) => !environment[name]),
    }))
    .filter(({ set }) => set.length > 0)
    .sort((one, other) => one.missing.length - other.missing.length);
  if (nearest === undefined) return undefined;
  const missing = nearest.missing.join(' and ');
  const verb = nearest.set.length === 1 ? 'is' : 'are';
  const pronoun = nearest.missing.length === 1 ? 'that' : 'those';
  return {
    path: nearest.set.map(([, name]) => name).join(', '),
    message: `${verb} not used without ${missing}: set ${pronoun} too, or give ${slug} an api_key in the configuration`,
  };
}
