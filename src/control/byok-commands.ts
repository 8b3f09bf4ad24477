import Type from 'typebox';
import { type ByokObject, byokObject, createByokSchema } from '../contract/workspaces/byok.ts';
import { GatewayError } from '../ir/errors.ts';
import { closed } from '../kit/json/schema.ts';
import type { StoredByokCredential } from '../ports/tenancy/byok.ts';
import { type CommandServices, command, oneAccount, text } from './command.ts';
import { type OwnedWorkspace, ownedWorkspaces, requireWorkspace } from './workspace-commands.ts';

/** A credential in the output of commands: as the management API shows it, with the names of its owners. */
export interface ByokView extends ByokObject {
  readonly account: string;
  /** Slug; null = every workspace. */
  readonly workspace: string | null;
}

const { workspace_id: _id, ...credentialMembers } = createByokSchema.properties;

const MIN_ID_CHARACTERS = 8;

export const BYOK_COMMANDS = {
  'byok.list': command(
    'byok.read',
    closed({ account: oneAccount, workspace: Type.Optional(text) }),
    async (services, { account, workspace }): Promise<ByokView[]> => {
      const all = await allCredentials(services, account);
      if (workspace === undefined) return all.map(({ view }) => view);
      const place = await requireWorkspace(services, account, workspace);
      return all
        .filter(({ credential: { accountId, workspaceId } }) =>
          workspaceId === null ? accountId === place.owner.id : workspaceId === place.workspace.id,
        )
        .map(({ view }) => view);
    },
  ),
  'byok.add': command(
    'byok.change',
    closed({
      account: oneAccount,
      /** Slug or id; default: the account's default one. */
      workspace: Type.Optional(text),
      all_workspaces: Type.Optional(Type.Boolean()),
      credential: closed(credentialMembers),
    }),
    async (services, input): Promise<ByokView> => {
      const isForAll = input.all_workspaces === true;
      if (isForAll && input.workspace !== undefined) {
        throw new GatewayError('invalid-request', 'workspace: leave it out, or --all-workspaces');
      }
      const place = await requireWorkspace(services, input.account, input.workspace);
      const { owner, workspace } = place;
      const stored = await services.byok.create(owner.id, {
        ...input.credential,
        workspace_id: isForAll ? null : workspace.id,
      });
      return byokView(stored, [place]);
    },
  ),
  'byok.remove': command(
    'byok.change',
    closed({ account: oneAccount, id: text }),
    async (services, { account, id }): Promise<ByokView> => {
      const { credential, view } = await oneCredential(services, account, id.toLowerCase());
      await services.byok.delete(credential.accountId, credential.id);
      return view;
    },
  ),
} as const;

interface FoundCredential {
  readonly credential: StoredByokCredential;
  readonly view: ByokView;
}

async function allCredentials(
  services: CommandServices,
  account: string | undefined,
): Promise<FoundCredential[]> {
  const places = await ownedWorkspaces(services, account);
  const found: FoundCredential[] = [];
  for (const id of new Set(places.map(({ owner }) => owner.id))) {
    const stored = await services.byok.listAll(id);
    found.push(...stored.map((credential) => ({ credential, view: byokView(credential, places) })));
  }
  return found;
}

async function oneCredential(
  services: CommandServices,
  account: string | undefined,
  beginning: string,
): Promise<FoundCredential> {
  if (beginning.length < MIN_ID_CHARACTERS) {
    throw new GatewayError(
      'invalid-request',
      `id: must be the id of a credential or its first ${MIN_ID_CHARACTERS} or more characters, as the list shows it`,
    );
  }
  const all = await allCredentials(services, account);
  const [first, second] = all.filter(({ credential: { id } }) => id.startsWith(beginning));
  if (first === undefined) {
    throw new GatewayError('not-found', `id: no credential's id begins with ${beginning}`);
  }
  if (second === undefined) return first;
  throw new GatewayError('conflict', `id: more than one id begins with ${beginning}; give more of it`);
}

function byokView(credential: StoredByokCredential, places: readonly OwnedWorkspace[]): ByokView {
  const { accountId, workspaceId } = credential;
  const owner = places.find((place) => place.owner.id === accountId)?.owner;
  const workspace = places.find((place) => place.workspace.id === workspaceId)?.workspace;
  return {
    ...byokObject(credential),
    account: owner?.name ?? accountId,
    workspace: workspace?.slug ?? workspaceId,
  };
}
