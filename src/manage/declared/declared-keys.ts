import { nanosOf } from '../../kit/money.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { Key, KeyEdit } from '../../ports/tenancy/tenancy.ts';
import { hashSecret } from '../keys/hash-secret.ts';
import { newHashedKey } from '../keys/new-key.ts';
import type { Application, DeclaredKey, DeclaredKind, DeclaredPlace } from './application.ts';
import { differs } from './declared-workspace.ts';

/** Label of a key whose secret was never seen. */
const UNKNOWN_LABEL = maskedLabel('');

/** API keys; ids are hashes. A key that has left the file is disabled and keeps its spending. */
export const DECLARED_KEYS: DeclaredKind = {
  async store(application, place) {
    const hashes: string[] = [];
    for (const [index, declared] of (place.declared.keys ?? []).entries()) {
      hashes.push(await storeKey(application, place, declared, `${place.path}.keys[${index}]`));
    }
    return hashes;
  },
  async release(application, declared) {
    for (const key of application.former.keys) {
      if (declared.has(key.hash)) continue;
      await editKey(application, key, { disabled: true, fileMember: null });
      application.changes.released++;
    }
  },
};

/** The hash of a declared key; empty if it has neither hash nor secret. */
export function hashOf({ hash, secret }: Pick<DeclaredKey, 'hash' | 'secret'>): string {
  return hash ?? (secret ? hashSecret(secret) : '');
}

async function storeKey(
  application: Application,
  { workspace }: DeclaredPlace,
  declared: DeclaredKey,
  path: string,
): Promise<string> {
  const { dependencies, accountId, changes } = application;
  const { tenancy, sources, changedKey } = dependencies;
  const hash = hashOf(declared);
  const edit = editOf(declared, workspace.id, path);
  const known = await tenancy.findKey(hash);
  if (known === undefined) {
    const made = newHashedKey({
      label: UNKNOWN_LABEL,
      accountId,
      workspaceId: workspace.id,
      createdAtMs: sources.clock.now(),
      name: declared.name,
      ...edit,
      hash,
    });
    // False if another gateway with the same file stored it meanwhile.
    if (await tenancy.insertKey(made)) changes.created++;
    changedKey(hash);
  } else if (differs(known, edit)) {
    await editKey(application, known, edit);
    changes.updated++;
  }
  return hash;
}

function editOf(declared: DeclaredKey, workspaceId: string, path: string): KeyEdit {
  const { secret, limit, expires_at: expiresAt } = declared;
  return {
    workspaceId,
    name: declared.name,
    ...(secret && { label: maskedLabel(secret) }),
    limitNanos: typeof limit === 'number' ? nanosOf(limit) : null,
    limitReset: declared.limit_reset ?? null,
    includeByokInLimit: declared.include_byok_in_limit ?? false,
    disabled: declared.disabled ?? false,
    allowedModels: declared.allowed_models ?? null,
    requestsPerMinute: declared.requests_per_minute || null,
    tokensPerMinute: declared.tokens_per_minute || null,
    expiresAtMs: (expiresAt ? momentMs(expiresAt) : undefined) ?? null,
    creatorUserId: declared.creator_user_id ?? null,
    fileMember: path,
  };
}

async function editKey({ dependencies }: Application, { hash }: Key, edit: KeyEdit): Promise<void> {
  await dependencies.tenancy.updateKey(hash, edit, dependencies.sources.clock.now());
  dependencies.changedKey(hash);
}
