import type { Issue } from '../../kit/json/validate.ts';
import { DESTINATION_LIMITS } from '../../ports/following/destinations.ts';
import { MAX_CREDENTIALS } from '../byok/byok.ts';
import type { Application, DeclaredClassifier, DeclaredWorkspace } from './application.ts';
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

export async function conflictsOf(application: Application): Promise<Issue[]> {
  return [
    ...(await keyConflicts(application)),
    ...(await unknownKeyConflicts(application)),
    ...(await roomConflicts(application)),
    ...(await destinationConflicts(application)),
    ...(await classifierConflicts(application)),
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

/** What names unknown keys would silently apply to none. */
async function unknownKeyConflicts({ dependencies, accountId, config }: Application): Promise<Issue[]> {
  const declaredHashes = new Set(config.workspaces.flatMap(({ keys }) => (keys ?? []).map(hashOf)));
  const conflicts: Issue[] = [];
  for (const { hash, path, message } of config.workspaces.flatMap(namedKeys)) {
    if (declaredHashes.has(hash)) continue;
    if ((await dependencies.tenancy.findKey(hash))?.accountId === accountId) continue;
    conflicts.push({ path, message });
  }
  return conflicts;
}

/** A key that something in the file names, and what is said if it is not known. */
interface NamedKey extends Issue {
  readonly hash: string;
}

const UNKNOWN_KEY = 'is not the hash of a key of the first account';

function namedKeys(workspace: DeclaredWorkspace, at: number): NamedKey[] {
  const listed = (path: string, hashes: readonly string[] | null | undefined) =>
    (hashes ?? []).map((hash, index) => ({ hash, path: `${path}[${index}]`, message: UNKNOWN_KEY }));
  const path = `workspaces[${at}]`;
  return [
    ...(workspace.byok ?? []).flatMap(({ allowed_api_key_hashes: hashes }, index) =>
      listed(`${path}.byok[${index}].allowed_api_key_hashes`, hashes),
    ),
    ...(workspace.guardrails ?? []).flatMap((guardrail, index) =>
      subjectsOf(guardrail, workspace).key.map((hash) => ({
        hash,
        path: `${path}.guardrails[${index}].keys`,
        message: `${hash} ${UNKNOWN_KEY}`,
      })),
    ),
    ...(workspace.destinations ?? []).flatMap(({ api_key_hashes: hashes }, index) =>
      listed(`${path}.destinations[${index}].api_key_hashes`, hashes),
    ),
  ];
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

/** Destinations of the API count towards the most of a type too. */
async function destinationConflicts(application: Application): Promise<Issue[]> {
  const { accountId, config, dependencies, former } = application;
  if (config.workspaces.every(({ destinations }) => !destinations?.length)) return [];
  const declaredBefore = new Set(former.destinations.map(({ id }) => id));
  const byHand = (await dependencies.destinationStore.listAll()).filter(({ id }) => !declaredBefore.has(id));
  const conflicts: Issue[] = [];
  for (const [at, { slug, destinations }] of config.workspaces.entries()) {
    const workspace = await dependencies.tenancy.findWorkspace(accountId, slug);
    const counts = new Map<string, number>();
    for (const { workspaceId, type } of byHand) {
      if (workspaceId === workspace?.id) counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    for (const [index, { type }] of (destinations ?? []).entries()) {
      const count = (counts.get(type) ?? 0) + 1;
      counts.set(type, count);
      if (count <= DESTINATION_LIMITS.ofType) continue;
      conflicts.push({
        path: `workspaces[${at}].destinations[${index}]`,
        message:
          `a workspace has at most ${DESTINATION_LIMITS.ofType} destinations of type ${type}, with those that ` +
          'were made by the API; delete one of them',
      });
    }
  }
  return conflicts;
}

/** A classifier that was made by the API may be the active one. */
async function classifierConflicts({
  accountId,
  config,
  dependencies,
  former,
}: Application): Promise<Issue[]> {
  const { classifierStore, tenancy } = dependencies;
  const isActive = ({ is_active: given }: DeclaredClassifier) => given ?? true;
  if (!config.workspaces.some(({ classifiers }) => classifiers?.some(isActive))) return [];
  const declaredBefore = new Set(former.classifiers.map(({ id }) => id));
  const byHand = (await classifierStore.listActive()).filter(({ id }) => !declaredBefore.has(id));
  const conflicts: Issue[] = [];
  for (const [at, { slug, classifiers }] of config.workspaces.entries()) {
    const workspace = await tenancy.findWorkspace(accountId, slug);
    const other = byHand.find(({ workspaceId }) => workspaceId === workspace?.id);
    const index = (classifiers ?? []).findIndex(isActive);
    if (other === undefined || index === -1) continue;
    conflicts.push({
      path: `workspaces[${at}].classifiers[${index}]`,
      message: `the workspace has an active classifier that was made by the API (${other.id}): deactivate it first`,
    });
  }
  return conflicts;
}
