import { FUSION_MODELS } from '../../catalog/fusion-team.ts';
import { autoRouter } from './auto.ts';
import { freeRouter } from './free.ts';
import { fusionRouter } from './fusion.ts';
import { paretoCodeRouter } from './pareto-code.ts';
import type { Router } from './router.ts';

/** The routers of `ROUTER_NAMES`. */
export const ROUTERS: Readonly<Record<string, Router>> = {
  auto: autoRouter('auto-router'),
  'auto-beta': autoRouter('auto-beta-router'),
  'pareto-code': paretoCodeRouter,
  free: freeRouter,
  ...Object.fromEntries([...FUSION_MODELS].map(([name, preset]) => [name, fusionRouter(preset)])),
};

export const ROUTER_OF_PLUGIN: ReadonlyMap<string, string> = new Map(
  Object.entries(ROUTERS).flatMap(([name, { plugin }]) =>
    plugin === undefined ? [] : [[plugin, name] as const],
  ),
);
