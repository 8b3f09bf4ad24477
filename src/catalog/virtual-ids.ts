import type { Issue } from '../kit/json/validate.ts';
import type { ModelEntry } from './entries.ts';
import { FUSION_MODELS } from './fusion-team.ts';

/** Routers by the part of their id after the vendor: a request that names one has the gateway choose a model. */
export const ROUTER_NAMES: readonly string[] = [
  'auto',
  'auto-beta',
  'pareto-code',
  'free',
  ...FUSION_MODELS.keys(),
];

/** Names of routers that are not supported yet. */
export const UNAVAILABLE_ROUTERS: readonly string[] = ['bodybuilder'];

const NAMES: ReadonlySet<string> = new Set([...ROUTER_NAMES, ...UNAVAILABLE_ROUTERS]);

/** The part of an id after the vendor's prefix; undefined if it has another prefix. */
export function routerNameOf(id: string, vendor: string | undefined): string | undefined {
  if (vendor === undefined || !id.startsWith(`${vendor}/`)) return undefined;
  return id.slice(vendor.length + 1);
}

/** Whether an id, with or without suffixes, is that of a router: no model can have it. */
export function isRouterId(id: string, vendor: string | undefined): boolean {
  const name = routerNameOf(id, vendor);
  return name !== undefined && NAMES.has(name.split(':', 1)[0] ?? '');
}

/** The model family in `~author/family-latest`. */
export interface VersionGroup {
  readonly author: string;
  readonly family: string;
}

/** Parses `~author/family-latest`; undefined for any other id. */
export function parseLatest(id: string): VersionGroup | undefined {
  if (!id.startsWith('~')) return undefined;
  const match = /^~([^/]+)\/(.+)-latest$/.exec(id);
  return match === null ? undefined : { author: match[1] ?? '', family: match[2] ?? '' };
}

/** Why a model cannot have an id that stands for a choice of models; undefined = it can. */
export function virtualIdProblem(id: string, vendor: string | undefined): string | undefined {
  if (isRouterId(id, vendor)) return routerProblem(id);
  const [base = id] = id.split(':', 1);
  if (parseLatest(base) === undefined) return undefined;
  return `stands for the newest model of a family, so that no model can have it: ${id}`;
}

/**
 * Problems of ids and aliases in the models of a configuration. An alias may be that of a family: it says which model
 * is the newest.
 */
export function configuredIdIssues(models: readonly ModelEntry[], vendor: string): Issue[] {
  return models.flatMap(({ id, aliases }, index): Issue[] => {
    const problem = virtualIdProblem(id, vendor);
    return [
      ...(problem === undefined ? [] : [{ path: `models[${index}].id`, message: problem }]),
      ...(aliases ?? []).flatMap((alias, at) =>
        isRouterId(alias, vendor)
          ? [{ path: `models[${index}].aliases[${at}]`, message: routerProblem(alias) }]
          : [],
      ),
    ];
  });
}

function routerProblem(id: string): string {
  return `is a router of this gateway, so that no model can have it: ${id}`;
}
