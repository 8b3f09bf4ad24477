import type { Issue } from '../../kit/json/validate.ts';
import { MAX_CREDENTIALS } from '../byok/byok.ts';
import type { Application } from './application.ts';
import { subjectsOf } from './declared-guardrails.ts';
import { hashOf } from './declared-keys.ts';

/** Declarations that contradict what is stored. Nothing of their file was applied. */
export class DeclarationConflict extends Error {
  readonly problems: readonly Issue[];

  constructor(problems: readonly Issue[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    this.name = 'DeclarationConflict';
    this.problems = problems;
  }
}

/** All contradictions between a file and what is stored. */
export async function conflictsOf(application: Application): Promise<Issue[]> {
  return [
    ...(await keyConflicts(application)),
    ...(await unknownKeyConflicts(application)),
    ...(await unknownGuardedKeys(application)),
    ...(await roomConflicts(application)),
  ];
}

async function keyConflicts({ dependencies, accountId, config }: Application): Promise<Issue[]> {
  const conflicts: Issue[] = [];
  for (const [at, { keys }] of config.workspaces.entries()) {
    for (const [index, declared] of (keys ?? []).entries()) {
      const known = await dependencies.tenancy.findKey(hashOf(declared));
      const path = `workspaces[${at}].keys[${index}].${declared.secret ? 'secret' : 'hash'}`;
      if (known?.isManagement) conflicts.push({ path, message: 'is of a management key; use another key' });
      else if (known !== undefined && known.accountId !== accountId) {
        conflicts.push({ path, message: 'is of a key of another account; use another key' });
      }
    }
  }
  return conflicts;
}

/** A list of unknown hashes would silently disable the credential. */
async function unknownKeyConflicts({ dependencies, accountId, config }: Application): Promise<Issue[]> {
  const declaredHashes = new Set(config.workspaces.flatMap(({ keys }) => (keys ?? []).map(hashOf)));
  const conflicts: Issue[] = [];
  for (const [at, { byok }] of config.workspaces.entries()) {
    for (const [index, { allowed_api_key_hashes: hashes }] of (byok ?? []).entries()) {
      for (const [place, hash] of (hashes ?? []).entries()) {
        if (declaredHashes.has(hash)) continue;
        if ((await dependencies.tenancy.findKey(hash))?.accountId === accountId) continue;
        const path = `workspaces[${at}].byok[${index}].allowed_api_key_hashes[${place}]`;
        conflicts.push({ path, message: 'is not the hash of a key of the first account' });
      }
    }
  }
  return conflicts;
}

/** A guardrail for an unknown key would hold for nothing. */
async function unknownGuardedKeys({ dependencies, accountId, config }: Application): Promise<Issue[]> {
  const declaredHashes = new Set(config.workspaces.flatMap(({ keys }) => (keys ?? []).map(hashOf)));
  const conflicts: Issue[] = [];
  for (const [at, workspace] of config.workspaces.entries()) {
    for (const [index, guardrail] of (workspace.guardrails ?? []).entries()) {
      for (const hash of subjectsOf(guardrail, workspace).key) {
        if (declaredHashes.has(hash)) continue;
        if ((await dependencies.tenancy.findKey(hash))?.accountId === accountId) continue;
        const path = `workspaces[${at}].guardrails[${index}].keys`;
        conflicts.push({ path, message: `${hash} is not the hash of a key of the first account` });
      }
    }
  }
  return conflicts;
}

async function roomConflicts({ dependencies, accountId, config, former }: Application): Promise<Issue[]> {
  const declared = config.workspaces.reduce((sum, { byok }) => sum + (byok ?? []).length, 0);
  if (declared === 0) return [];
  const stored = (await dependencies.byokStore.listAll(accountId)).length;
  // Released credentials stay, so the sum may count some twice: the bound is a little stricter than that of the API.
  if (declared + stored - former.credentials.length <= MAX_CREDENTIALS) return [];
  return [
    {
      path: 'workspaces',
      message: `an account holds at most ${MAX_CREDENTIALS} credentials; remove some with byok remove`,
    },
  ];
}
