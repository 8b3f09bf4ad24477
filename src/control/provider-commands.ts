import Type from 'typebox';
import {
  createGatewayProviderSchema,
  type GatewayProviderObject,
  gatewayProviderObject,
  type ProviderSetter,
  type ProviderTestObject,
  testGatewayProviderSchema,
  updateGatewayProviderSchema,
} from '../contract/gateway/gateway-provider.ts';
import { closed } from '../kit/json/schema.ts';
import type { StoredProvider } from '../ports/tenancy/gateway-providers.ts';
import { type CommandServices, command, text } from './command.ts';
import { type OwnedWorkspace, ownedWorkspaces, requireWorkspace } from './workspace-commands.ts';

/** A provider that the operator has added, in the output of commands: with the slugs of its workspaces. */
export interface AddedProviderView extends GatewayProviderObject {
  /** Slugs; null = all workspaces. */
  readonly workspaces: readonly string[] | null;
}

/** The providers of a gateway, by what sets them. */
export interface ProvidersView {
  readonly added: readonly AddedProviderView[];
  /** Those of the file and the environment. */
  readonly configured: readonly { readonly slug: string; readonly set_by: ProviderSetter }[];
}

const { workspace_ids: _ids, ...createMembers } = createGatewayProviderSchema.properties;
const { workspace_ids: _others, ...updateMembers } = updateGatewayProviderSchema.properties;

/** Slugs or ids of workspaces of the first account; null = all. */
const workspaces = Type.Optional(
  Type.Union([Type.Array(text, { minItems: 1, maxItems: 1_000 }), Type.Null()]),
);

/** Commands for the providers that the operator adds. */
export const PROVIDER_COMMANDS = {
  'providers.list': command('providers.read', closed({}), async (services): Promise<ProvidersView> => {
    const { gatewayProviders } = services;
    const places = await ownedWorkspaces(services, undefined);
    return {
      added: (await gatewayProviders.list()).map((stored) => viewOf(services, stored, places)),
      configured: [...gatewayProviders.setters()].map(([slug, setBy]) => ({ slug, set_by: setBy })),
    };
  }),
  'providers.test': command(
    'providers.try',
    testGatewayProviderSchema,
    (services, asked): Promise<ProviderTestObject> => services.gatewayProviders.test(asked),
  ),
  'providers.add': command(
    'providers.change',
    closed({ provider: closed(createMembers), workspaces }),
    async (services, input): Promise<AddedProviderView> => {
      const ids = await workspaceIdsOf(services, input.workspaces);
      const wanted = { ...input.provider, ...(ids !== undefined && { workspace_ids: ids }) };
      return shown(services, await services.gatewayProviders.create(wanted));
    },
  ),
  'providers.update': command(
    'providers.change',
    closed({ slug: text, change: closed(updateMembers), workspaces }),
    async (services, { slug, change, workspaces: named }): Promise<AddedProviderView> => {
      const ids = await workspaceIdsOf(services, named);
      const wanted = { ...change, ...(ids !== undefined && { workspace_ids: ids }) };
      return shown(services, await services.gatewayProviders.update(slug, wanted));
    },
  ),
  'providers.remove': command(
    'providers.change',
    closed({ slug: text }),
    async (services, { slug }): Promise<AddedProviderView> => {
      const stored = await services.gatewayProviders.get(slug);
      await services.gatewayProviders.delete(slug);
      return shown(services, stored);
    },
  ),
} as const;

async function workspaceIdsOf(
  services: CommandServices,
  named: readonly string[] | null | undefined,
): Promise<string[] | null | undefined> {
  if (named === undefined || named === null) return named;
  const ids: string[] = [];
  for (const name of named) ids.push((await requireWorkspace(services, undefined, name)).workspace.id);
  return ids;
}

async function shown(services: CommandServices, stored: StoredProvider): Promise<AddedProviderView> {
  return viewOf(services, stored, await ownedWorkspaces(services, undefined));
}

function viewOf(
  { gatewayProviders }: CommandServices,
  stored: StoredProvider,
  places: readonly OwnedWorkspace[],
): AddedProviderView {
  const slugOf = (id: string) => places.find(({ workspace }) => workspace.id === id)?.workspace.slug ?? id;
  return {
    ...gatewayProviderObject(stored, gatewayProviders.setBy(stored.slug)),
    workspaces: stored.workspaceIds?.map(slugOf) ?? null,
  };
}
