import { autoRouter } from './auto.ts';
import { freeRouter } from './free.ts';
import { paretoCodeRouter } from './pareto-code.ts';
import type { Router } from './router.ts';

/** The routers, by their name behind the operator's word. */
export const ROUTERS: Readonly<Record<string, Router>> = {
  auto: autoRouter('auto-router'),
  'auto-beta': autoRouter('auto-beta-router'),
  'pareto-code': paretoCodeRouter,
  free: freeRouter,
};

/** Names behind the operator's word that are known and not served yet. */
export const UNAVAILABLE_ROUTERS: readonly string[] = ['fusion', 'fusion-flash', 'bodybuilder'];

/** Which router a plugin steers, by the id of the plugin. */
export const ROUTER_OF_PLUGIN: ReadonlyMap<string, string> = new Map(
  Object.entries(ROUTERS).flatMap(([name, { plugin }]) =>
    plugin === undefined ? [] : [[plugin, name] as const],
  ),
);
