import { remembered } from '../../kit/collections/remembered.ts';
import { examplesFor } from '../examples.ts';
import type { ListedRoute, Route } from '../route.ts';
import { analyticsRoutes } from './analytics.ts';
import { BYOK_ROUTES } from './byok.ts';
import { CATALOG_ROUTES } from './catalog.ts';
import { CLASSIFIER_ROUTES } from './classifiers.ts';
import { CREDIT_ROUTES } from './credits.ts';
import { DATASET_ROUTES } from './datasets.ts';
import { DESTINATION_ROUTES } from './destinations.ts';
import { FILE_ROUTES } from './files.ts';
import { GATEWAY_ROUTES } from './gateway.ts';
import { generationRoutes } from './generation.ts';
import { GENERATION_LOG_ROUTES } from './generation-log.ts';
import { GENERATION_RECORD_ROUTES } from './generation-records.ts';
import { GUARDRAIL_ROUTES } from './guardrails.ts';
import { CURRENT_KEY_ROUTES, KEY_ROUTES } from './keys.ts';
import { MCP_ROUTES } from './mcp.ts';
import { PROBE_AND_DOCS_ROUTES } from './probes-and-docs.ts';
import { SESSION_ROUTES } from './sessions.ts';
import { WORKSPACE_ROUTES } from './workspaces.ts';

/** Vendor words whose tables are kept: a schema is compiled once for each. */
const MAX_VENDORS = 8;

/** THE table: every route of the gateway, for one vendor word, in the order of the interface description. */
export const routesFor: (vendor: string) => readonly ListedRoute[] = remembered(MAX_VENDORS, (vendor) => {
  const examples = examplesFor(vendor);
  return rowsFor(vendor).map((row) => ({
    ...row,
    get example() {
      return examples()[row.operationId] ?? null;
    },
  }));
});

function rowsFor(vendor: string): readonly Route[] {
  return [
    ...generationRoutes(vendor),
    ...GENERATION_RECORD_ROUTES,
    ...GENERATION_LOG_ROUTES,
    ...MCP_ROUTES,
    ...CATALOG_ROUTES,
    ...CURRENT_KEY_ROUTES,
    ...SESSION_ROUTES,
    ...FILE_ROUTES,
    ...DATASET_ROUTES,
    ...analyticsRoutes(vendor),
    ...BYOK_ROUTES,
    ...KEY_ROUTES,
    ...WORKSPACE_ROUTES,
    ...GUARDRAIL_ROUTES,
    ...DESTINATION_ROUTES,
    ...CLASSIFIER_ROUTES,
    ...CREDIT_ROUTES,
    ...GATEWAY_ROUTES,
    ...PROBE_AND_DOCS_ROUTES,
  ];
}
