import { analyticsEndpoints } from '../../endpoints/analytics.ts';
import { BYOK_ENDPOINTS } from '../../endpoints/byok.ts';
import { CLASSIFIER_ENDPOINTS } from '../../endpoints/classifiers.ts';
import { GET_CREDITS } from '../../endpoints/credits.ts';
import { DATASET_ENDPOINTS } from '../../endpoints/datasets.ts';
import { DESTINATION_ENDPOINTS } from '../../endpoints/destinations.ts';
import { FILE_ENDPOINTS } from '../../endpoints/files.ts';
import { GATEWAY_ENDPOINTS } from '../../endpoints/gateway.ts';
import { GATEWAY_PROVIDER_ENDPOINTS } from '../../endpoints/gateway-providers.ts';
import { GENERATION_LOG_ENDPOINTS } from '../../endpoints/generation-log.ts';
import { GUARDRAIL_ENDPOINTS } from '../../endpoints/guardrails.ts';
import { CURRENT_KEY_ENDPOINTS, KEY_ENDPOINTS } from '../../endpoints/keys.ts';
import { MEMBER_ENDPOINTS } from '../../endpoints/members.ts';
import { WORKSPACE_ENDPOINTS } from '../../endpoints/workspaces.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { examplesFor } from '../examples.ts';
import type { ListedRoute, Route } from '../route.ts';
import { CATALOG_ROUTES } from './catalog.ts';
import { REMOVED_CREDIT_ROUTES } from './credits.ts';
import { FILE_CONTENT_ROUTES } from './files.ts';
import { generationRoutes } from './generation.ts';
import { GENERATION_LOG_ROUTES } from './generation-log.ts';
import { GENERATION_RECORD_ROUTES } from './generation-records.ts';
import { MCP_ROUTES } from './mcp.ts';
import { PROBE_AND_DOCS_ROUTES } from './probes-and-docs.ts';
import { served } from './served.ts';
import { SESSION_ROUTES } from './sessions.ts';

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
    ...GENERATION_LOG_ENDPOINTS.map(served),
    ...MCP_ROUTES,
    ...CATALOG_ROUTES,
    ...CURRENT_KEY_ENDPOINTS.map(served),
    ...SESSION_ROUTES,
    ...FILE_CONTENT_ROUTES,
    ...FILE_ENDPOINTS.map(served),
    ...DATASET_ENDPOINTS.map(served),
    ...analyticsEndpoints(vendor).map(served),
    ...BYOK_ENDPOINTS.map(served),
    ...KEY_ENDPOINTS.map(served),
    ...WORKSPACE_ENDPOINTS.map(served),
    ...MEMBER_ENDPOINTS.map(served),
    ...GUARDRAIL_ENDPOINTS.map(served),
    ...DESTINATION_ENDPOINTS.map(served),
    ...CLASSIFIER_ENDPOINTS.map(served),
    served(GET_CREDITS),
    ...REMOVED_CREDIT_ROUTES,
    ...GATEWAY_ENDPOINTS.map(served),
    ...GATEWAY_PROVIDER_ENDPOINTS.map(served),
    ...PROBE_AND_DOCS_ROUTES,
  ];
}
