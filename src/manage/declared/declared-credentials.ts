import { derivedUuid } from '../../kit/crypto/derived-uuid.ts';
import { parseEgressRules } from '../../kit/net/egress.ts';
import type { ByokChange, StoredByokCredential } from '../../ports/tenancy/byok.ts';
import { BYOK_DEFAULTS, byokChangeOf } from '../byok/byok-change.ts';
import { checkSecret, credentialProviders, credentialTarget } from '../byok/byok-secret.ts';
import type { Application, DeclaredCredential, DeclaredKind, DeclaredPlace } from './application.ts';
import { differs } from './declared-workspace.ts';

/** BYOK credentials. One that has left the file is disabled and keeps its secret, encrypted. */
export const DECLARED_CREDENTIALS: DeclaredKind = {
  async store(application, place) {
    const ids: string[] = [];
    for (const [index, declared] of (place.declared.byok ?? []).entries()) {
      ids.push(await storeCredential(application, place, declared, `${place.path}.byok[${index}]`));
    }
    return ids;
  },
  async release({ dependencies, accountId, former, changes }, declared) {
    const { byokStore, sources, changedWorkspace } = dependencies;
    for (const { id, workspaceId } of former.credentials) {
      if (declared.has(id)) continue;
      const released = (): ByokChange => ({ disabled: true, fileMember: null });
      await byokStore.update(accountId, id, released, sources.clock.now());
      changedWorkspace({ id: workspaceId ?? '', accountId });
      changes.released++;
    }
  },
};

async function storeCredential(
  application: Application,
  { workspace }: DeclaredPlace,
  declared: DeclaredCredential,
  path: string,
): Promise<string> {
  const { dependencies, accountId, changes } = application;
  const { byokStore, vault, sources, changedWorkspace } = dependencies;
  const { provider, name, api_key: secret } = declared;
  // The same file gives the same id at every gateway and at every start.
  const id = derivedUuid(`declared credential ${JSON.stringify([workspace.id, provider, name ?? null])}`);
  const owner = { id, accountId, provider };
  const edit: ByokChange = { ...BYOK_DEFAULTS, ...byokChangeOf(settingsOf(declared)), fileMember: path };
  const newSecret = () => ({
    label: labelOf(application, declared),
    encryptedSecret: vault.encrypt(owner, secret),
  });
  const known = await byokStore.find(accountId, id);
  if (known === undefined) {
    await byokStore.insert({
      ...BYOK_DEFAULTS,
      ...edit,
      ...owner,
      ...newSecret(),
      workspaceId: workspace.id,
      version: 1,
      fileMember: path,
      createdAtMs: sources.clock.now(),
      updatedAtMs: null,
    });
    changes.created++;
  } else {
    const hasNewSecret = vault.decrypt(known) !== secret;
    if (!hasNewSecret && !differs<ByokChange>(known, edit)) return id;
    const decide = (current: StoredByokCredential): ByokChange =>
      hasNewSecret ? { ...edit, ...newSecret(), version: current.version + 1 } : edit;
    await byokStore.update(accountId, id, decide, sources.clock.now());
    if (hasNewSecret) await byokStore.purgeWipedSecrets();
    changes.updated++;
  }
  changedWorkspace(workspace);
  return id;
}

/** Null members of the file count as absent. */
function settingsOf({ provider: _provider, api_key: _secret, ...settings }: DeclaredCredential) {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

function labelOf({ config }: Application, { provider, api_key: secret }: DeclaredCredential): string {
  const target = credentialTarget(provider, credentialProviders(config.providers));
  const checked = target && checkSecret(secret, target, parseEgressRules(config.egress.allow));
  if (checked === undefined || 'problem' in checked) {
    throw new Error(`the credential of ${provider} was not checked before it was stored`);
  }
  return checked.label;
}
