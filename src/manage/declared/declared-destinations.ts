import { isDeepStrictEqual } from 'node:util';
import { labelsOf, splitConfig } from '../../broadcast/destination-config.ts';
import { derivedUuid } from '../../kit/crypto/derived-uuid.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import {
  DESTINATION_LIMITS,
  type Destination,
  type DestinationEdit,
} from '../../ports/following/destinations.ts';
import { DESTINATION_DEFAULTS, destinationChangeOf } from '../destinations/destination-change.ts';
import { openSecrets, sealedSecrets } from '../destinations/destination-secrets.ts';
import type { Application, DeclaredDestination, DeclaredKind, DeclaredPlace } from './application.ts';
import { differs } from './declared-workspace.ts';

/** Destinations. One that has left the file is deleted: nothing is sent to it, and its secrets are gone. */
export const DECLARED_DESTINATIONS: DeclaredKind = {
  async store(application, place) {
    const { declared, workspace, path } = place;
    const entries = (declared.destinations ?? []).map((each, index) => ({
      declared: each,
      id: destinationIdOf(workspace.id, each),
      path: `${path}.destinations[${index}]`,
    }));
    const ids = entries.map(({ id }) => id);
    // First of all, because they count towards the most of a type.
    const left = application.former.destinations.filter(
      ({ id, workspaceId }) => workspaceId === workspace.id && !ids.includes(id),
    );
    await deleteAll(application, left);
    for (const entry of entries) await storeDestination(application, place, entry);
    return ids;
  },
  async release(application, declared) {
    await deleteAll(
      application,
      application.former.destinations.filter(({ id }) => !declared.has(id)),
    );
  },
};

/** Makes the id from what the file says: every gateway gets the same one at every start. */
function destinationIdOf(
  workspaceId: string,
  { type, name }: Pick<DeclaredDestination, 'type' | 'name'>,
): string {
  return derivedUuid(`declared destination ${JSON.stringify([workspaceId, type, name])}`);
}

async function deleteAll(
  { dependencies, accountId, changes }: Application,
  destinations: readonly Destination[],
): Promise<void> {
  const { destinationStore, changedWorkspace } = dependencies;
  for (const { id, workspaceId } of destinations) {
    // False if this application, or another gateway with the same file, deleted it before.
    if (!(await destinationStore.delete(accountId, id))) continue;
    changedWorkspace({ id: workspaceId, accountId });
    changes.released++;
  }
}

interface Entry {
  readonly declared: DeclaredDestination;
  readonly id: string;
  readonly path: string;
}

async function storeDestination(
  { dependencies, accountId, changes }: Application,
  { workspace }: DeclaredPlace,
  { declared, id, path }: Entry,
): Promise<void> {
  const { destinationStore, vault, sources, changedWorkspace } = dependencies;
  const { type, name } = declared;
  const owner = { id, accountId, type };
  const { config, secrets } = splitConfig(type, declared.config as JsonObject);
  const edit = {
    ...DESTINATION_DEFAULTS,
    ...destinationChangeOf(settingsOf(declared)),
    name,
    config,
    fileMember: path,
  } satisfies DestinationEdit;
  const newSecrets = () => ({
    encryptedSecrets: sealedSecrets(vault, owner, secrets),
    secretLabels: labelsOf(secrets),
  });
  const known = await destinationStore.find(accountId, id);
  if (known === undefined) {
    const stored = await destinationStore.insert(
      {
        ...edit,
        ...owner,
        ...newSecrets(),
        workspaceId: workspace.id,
        version: 1,
        createdAtMs: sources.clock.now(),
        updatedAtMs: null,
      },
      DESTINATION_LIMITS.ofType,
    );
    if (stored === 'full') throw new Error(`${path}: one of its type was made while the file was stored`);
    changes.created++;
  } else {
    const hasNewSecrets = !isDeepStrictEqual(openSecrets(vault, known), secrets);
    if (!hasNewSecrets && !differs<DestinationEdit>(known, edit)) return;
    const decide = ({ version }: Destination): DestinationEdit =>
      hasNewSecrets ? { ...edit, ...newSecrets(), version: version + 1 } : edit;
    await destinationStore.update(accountId, id, decide, sources.clock.now());
    if (hasNewSecrets) await destinationStore.purgeWipedSecrets();
    changes.updated++;
  }
  changedWorkspace(workspace);
}

/** Null members of the file count as absent. */
function settingsOf({ type: _type, config: _config, ...settings }: DeclaredDestination) {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}
