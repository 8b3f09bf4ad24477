import { deletedSchema } from '../contract/envelopes/deleted.ts';
import {
  createGatewayProviderSchema,
  gatewayProviderObject,
  gatewayProviderReplySchema,
  providerTestSchema,
  testGatewayProviderSchema,
  updateGatewayProviderSchema,
} from '../contract/gateway/gateway-provider.ts';
import type { StoredProvider } from '../ports/tenancy/gateway-providers.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT } from './endpoint-parts.ts';
import type { EndpointServices } from './services.ts';

const PROVIDERS = { ...MANAGEMENT, tag: 'Gateway' } as const;

/** Providers that the operator adds to the gateway. `GET /gateway/providers` lists them among all. */
export const GATEWAY_PROVIDER_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...PROVIDERS,
    method: 'POST',
    path: '/gateway/providers',
    operationId: 'createGatewayProvider',
    summary: 'Add a provider to the gateway, with a key that is stored encrypted',
    permission: 'providers.change',
    body: createGatewayProviderSchema,
    reply: gatewayProviderReplySchema,
    status: 201,
    refusals: [409],
    run: async ({ services, body }) => replyOf(services, await services.gatewayProviders.create(body)),
  }),
  endpoint({
    ...PROVIDERS,
    method: 'POST',
    path: '/gateway/providers/test',
    operationId: 'testGatewayProvider',
    summary: 'Ask a provider for its models, with a given key or the one that it has; nothing is stored',
    permission: 'providers.try',
    body: testGatewayProviderSchema,
    reply: providerTestSchema,
    refusals: [409],
    run: async ({ services, body }) => ({ data: await services.gatewayProviders.test(body) }),
  }),
  endpoint({
    ...PROVIDERS,
    method: 'GET',
    path: '/gateway/providers/{slug}',
    operationId: 'getGatewayProvider',
    summary: 'One provider that was added',
    permission: 'providers.read',
    reply: gatewayProviderReplySchema,
    refusals: [404],
    run: async ({ services, params }) => replyOf(services, await services.gatewayProviders.get(params.slug)),
  }),
  endpoint({
    ...PROVIDERS,
    method: 'PATCH',
    path: '/gateway/providers/{slug}',
    operationId: 'updateGatewayProvider',
    summary: 'Change a provider that was added; a new key replaces the old one in place',
    permission: 'providers.change',
    body: updateGatewayProviderSchema,
    reply: gatewayProviderReplySchema,
    refusals: [404, 409],
    run: async ({ services, params, body }) =>
      replyOf(services, await services.gatewayProviders.update(params.slug, body)),
  }),
  endpoint({
    ...PROVIDERS,
    method: 'DELETE',
    path: '/gateway/providers/{slug}',
    operationId: 'deleteGatewayProvider',
    summary: 'Remove a provider that was added, and wipe its key',
    permission: 'providers.change',
    reply: deletedSchema,
    refusals: [404],
    run: async ({ services, params }) => {
      await services.gatewayProviders.delete(params.slug);
      return DELETED;
    },
  }),
];

function replyOf({ gatewayProviders }: EndpointServices, provider: StoredProvider) {
  return { data: gatewayProviderObject(provider, gatewayProviders.setBy(provider.slug)) };
}
