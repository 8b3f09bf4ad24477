import {
  configurationQuerySchema,
  configurationReplySchema,
  findingsReplySchema,
  presetListSchema,
} from '../contract/gateway/configuration.ts';
import {
  MAX_PRICE_CHANGES,
  priceChangeListSchema,
  pricesQuerySchema,
} from '../contract/gateway/price-change.ts';
import {
  endpointStateListSchema,
  endpointStatesQuerySchema,
  providerStateListSchema,
} from '../contract/gateway/provider-state.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { MANAGEMENT } from './endpoint-parts.ts';

const GATEWAY = { ...MANAGEMENT, method: 'GET', tag: 'Gateway' } as const;

/** The state of the installation, for its operator. */
export const GATEWAY_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...GATEWAY,
    path: '/gateway/providers',
    operationId: 'listProviderStates',
    summary: 'Providers in use, with keys, calls, uptime and what went out of service; then known ones',
    permission: 'installation.read',
    reply: providerStateListSchema,
    run: async ({ services }) => ({ data: await services.operatorViews.providers() }),
  }),
  endpoint({
    ...GATEWAY,
    path: '/gateway/endpoints',
    operationId: 'listEndpointStates',
    summary:
      'Endpoints with their health: cool-downs with cause and end, calls of the last day, uptime of 30 days',
    permission: 'installation.read',
    query: endpointStatesQuerySchema,
    reply: endpointStateListSchema,
    run: async ({ services, query }) => ({ data: await services.operatorViews.endpoints(query) }),
  }),
  endpoint({
    ...GATEWAY,
    path: '/gateway/prices',
    operationId: 'listPriceChanges',
    summary: 'Changes of prices that came into force, newest first',
    permission: 'installation.read',
    query: pricesQuerySchema,
    reply: priceChangeListSchema,
    refusals: [503],
    run: async ({ services, query }) => {
      const changes = await services.operatorViews.prices(query.model);
      return {
        data: changes.slice(0, MAX_PRICE_CHANGES),
        total_count: changes.length,
      };
    },
  }),
  endpoint({
    ...GATEWAY,
    path: '/gateway/presets',
    operationId: 'listPresets',
    summary: 'Presets of the configuration, with the fields that each sets',
    permission: 'installation.read',
    reply: presetListSchema,
    run: ({ services }) => ({ data: services.operatorViews.presets() }),
  }),
  endpoint({
    ...GATEWAY,
    path: '/gateway/configuration',
    operationId: 'getConfiguration',
    summary: 'The configuration in force, where each value comes from, and how the last reload ended',
    permission: 'installation.read',
    query: configurationQuerySchema,
    reply: configurationReplySchema,
    run: async ({ services, query }) => ({
      data: await services.operatorViews.configuration(query.section),
    }),
  }),
  endpoint({
    ...GATEWAY,
    path: '/gateway/findings',
    operationId: 'listFindings',
    summary: 'What `signalbox doctor` finds inside the running gateway; calls the addresses of providers',
    permission: 'installation.read',
    reply: findingsReplySchema,
    run: async ({ services }) => ({ data: await services.operatorViews.findings() }),
  }),
];
