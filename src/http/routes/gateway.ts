import {
  configurationQuerySchema,
  configurationReplySchema,
  findingsReplySchema,
  presetListSchema,
} from '../../contract/gateway/configuration.ts';
import {
  MAX_PRICE_CHANGES,
  type PricesQuery,
  priceChangeListSchema,
  pricesQuerySchema,
} from '../../contract/gateway/price-change.ts';
import {
  type EndpointStatesQuery,
  endpointStateListSchema,
  endpointStatesQuerySchema,
  providerStateListSchema,
} from '../../contract/gateway/provider-state.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { OperatorViews } from '../dependencies.ts';
import type { Call, Route } from '../route.ts';
import { callerOf, MANAGEMENT, managementRefusals, NOTHING_DECLARED, ok, withQuery } from './row-parts.ts';

const GATEWAY = { ...MANAGEMENT, method: 'GET', tag: 'Gateway' } as const;

/** The views, if the key is the operator's: they cover all accounts. */
function operatorViewsOf(call: Call): OperatorViews {
  if (callerOf(call).accountId !== call.services.firstAccountId) {
    throw new GatewayError(
      'permission',
      'Only management keys of the first account can see the state of the installation',
    );
  }
  return call.services.operatorViews;
}

/** The state of the installation, for its operator. */
export const GATEWAY_ROUTES: readonly Route[] = [
  {
    ...GATEWAY,
    path: '/gateway/providers',
    operationId: 'listProviderStates',
    summary: 'Providers in use, with keys, calls, uptime and what went out of service; then known ones',
    request: NOTHING_DECLARED,
    responses: { 200: ok(providerStateListSchema), ...managementRefusals() },
    handler: async (call) => call.exchange.reply.json(200, { data: await operatorViewsOf(call).providers() }),
  },
  {
    ...GATEWAY,
    path: '/gateway/endpoints',
    operationId: 'listEndpointStates',
    summary:
      'Endpoints with their health: cool-downs with cause and end, calls of the last day, uptime of 30 days',
    request: withQuery(endpointStatesQuerySchema),
    responses: { 200: ok(endpointStateListSchema), ...managementRefusals(400) },
    handler: async (call) => {
      const endpoints = await operatorViewsOf(call).endpoints(call.query as EndpointStatesQuery);
      call.exchange.reply.json(200, { data: endpoints });
    },
  },
  {
    ...GATEWAY,
    path: '/gateway/prices',
    operationId: 'listPriceChanges',
    summary: 'Changes of prices that came into force, newest first',
    request: withQuery(pricesQuerySchema),
    responses: { 200: ok(priceChangeListSchema), ...managementRefusals(400, 503) },
    handler: async (call) => {
      const changes = await operatorViewsOf(call).prices((call.query as PricesQuery).model);
      call.exchange.reply.json(200, {
        data: changes.slice(0, MAX_PRICE_CHANGES),
        total_count: changes.length,
      });
    },
  },
  {
    ...GATEWAY,
    path: '/gateway/presets',
    operationId: 'listPresets',
    summary: 'Presets of the configuration, with the fields that each sets',
    request: NOTHING_DECLARED,
    responses: { 200: ok(presetListSchema), ...managementRefusals() },
    handler: (call) => call.exchange.reply.json(200, { data: operatorViewsOf(call).presets() }),
  },
  {
    ...GATEWAY,
    path: '/gateway/configuration',
    operationId: 'getConfiguration',
    summary: 'The configuration in force, where each value comes from, and how the last reload ended',
    request: withQuery(configurationQuerySchema),
    responses: { 200: ok(configurationReplySchema), ...managementRefusals(400) },
    handler: async (call) => {
      const { section } = call.query as { readonly section?: string };
      call.exchange.reply.json(200, { data: await operatorViewsOf(call).configuration(section) });
    },
  },
  {
    ...GATEWAY,
    path: '/gateway/findings',
    operationId: 'listFindings',
    summary: 'What `signalbox doctor` finds inside the running gateway; calls the addresses of providers',
    request: NOTHING_DECLARED,
    responses: { 200: ok(findingsReplySchema), ...managementRefusals() },
    handler: async (call) => call.exchange.reply.json(200, { data: await operatorViewsOf(call).findings() }),
  },
];
