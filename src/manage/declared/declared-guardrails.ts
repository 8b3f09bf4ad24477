import { workspaceGuardrailId } from '../../contract/guardrails/default-guardrail-ids.ts';
import type { UpdateGuardrail } from '../../contract/guardrails/guardrail.ts';
import { derivedUuid } from '../../kit/crypto/derived-uuid.ts';
import type { AssignmentKind, GuardrailAssignment, GuardrailEdit } from '../../ports/tenancy/guardrails.ts';
import { guardrailChangeOf } from '../guardrails/guardrail-change.ts';
import { GUARDRAIL_DEFAULTS, newGuardrail } from '../guardrails/new-guardrail.ts';
import type {
  Application,
  DeclaredGuardrail,
  DeclaredKind,
  DeclaredPlace,
  DeclaredWorkspace,
} from './application.ts';
import { hashOf } from './declared-keys.ts';
import { differs } from './declared-workspace.ts';

/** Guardrails and what they are assigned to. One that has left the file is deleted: it applies no longer. */
export const DECLARED_GUARDRAILS: DeclaredKind = {
  async store(application, place) {
    const ids: string[] = [];
    for (const [index, declared] of (place.declared.guardrails ?? []).entries()) {
      ids.push(await storeGuardrail(application, place, declared, `${place.path}.guardrails[${index}]`));
    }
    return ids;
  },
  async release({ dependencies, accountId, former, changes }, declared) {
    const { guardrailStore, changedGuardrails } = dependencies;
    for (const { id } of former.guardrails) {
      if (declared.has(id)) continue;
      await guardrailStore.delete(accountId, id);
      changedGuardrails(accountId);
      changes.released++;
    }
  },
};

async function storeGuardrail(
  application: Application,
  { declared: owner, workspace }: DeclaredPlace,
  declared: DeclaredGuardrail,
  path: string,
): Promise<string> {
  const { dependencies, accountId, changes } = application;
  const { guardrailStore, sources, changedGuardrails } = dependencies;
  const { name } = declared;
  // The same file gives the same id at every gateway and at every start.
  const id = declared.default
    ? workspaceGuardrailId(workspace.id)
    : derivedUuid(`declared guardrail ${JSON.stringify([workspace.id, name])}`);
  const edit: GuardrailEdit = {
    ...GUARDRAIL_DEFAULTS,
    ...guardrailChangeOf(settingsOf(declared), GUARDRAIL_DEFAULTS, (model) => model),
    name,
    fileMember: path,
  };
  const known = await guardrailStore.find(accountId, id);
  if (known === undefined) {
    const createdAtMs = sources.clock.now();
    const made = { id, accountId, workspaceId: workspace.id, name, createdAtMs };
    await guardrailStore.insert(newGuardrail({ ...edit, ...made }));
    changes.created++;
  } else if (differs<GuardrailEdit>(known, edit)) {
    await guardrailStore.update(accountId, id, () => edit, sources.clock.now());
    changes.updated++;
  }
  const isAssigned = await storeAssignments(application, id, subjectsOf(declared, owner), path);
  if (isAssigned || known === undefined || differs<GuardrailEdit>(known, edit)) changedGuardrails(accountId);
  return id;
}

/** Members that only the file has are left out; null members of the file count as absent. */
function settingsOf(declared: DeclaredGuardrail): UpdateGuardrail {
  const { default: _default, keys: _keys, members: _members, ...settings } = declared;
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

/** Keys by hash, or by their names in the same workspace of the file. */
export function subjectsOf(
  { keys, members }: Pick<DeclaredGuardrail, 'keys' | 'members'>,
  owner: Pick<DeclaredWorkspace, 'keys'>,
): Readonly<Record<AssignmentKind, readonly string[]>> {
  const hashesOf = (name: string) => {
    const named = (owner.keys ?? []).filter((key) => key.name === name).map(hashOf);
    return named.length > 0 ? named : [name];
  };
  return { key: [...new Set((keys ?? []).flatMap(hashesOf))], member: [...new Set(members ?? [])] };
}

/** Assigns what the file says, and takes away what it said before. True if anything changed. */
async function storeAssignments(
  { dependencies, accountId }: Application,
  guardrailId: string,
  subjects: ReturnType<typeof subjectsOf>,
  fileMember: string,
): Promise<boolean> {
  const { guardrailStore, sources } = dependencies;
  const known = await declaredAssignments({ dependencies, accountId }, guardrailId);
  const isKnown = (kind: AssignmentKind, subject: string) =>
    known.some((one) => one.kind === kind && one.subject === subject && one.fileMember === fileMember);
  const wanted = (['key', 'member'] as const).flatMap((kind) =>
    subjects[kind].map((subject) => ({ kind, subject })),
  );
  const added = wanted.filter(({ kind, subject }) => !isKnown(kind, subject));
  const removed = known.filter(({ kind, subject }) => !subjects[kind].includes(subject));
  await guardrailStore.assign(
    added.map(({ kind, subject }) => ({
      id: sources.uuid(),
      guardrailId,
      accountId,
      kind,
      subject,
      assignedBy: null,
      createdAtMs: sources.clock.now(),
      fileMember,
    })),
  );
  for (const { kind, subject } of removed) await guardrailStore.unassign(guardrailId, kind, [subject]);
  return added.length + removed.length > 0;
}

const ASSIGNMENTS_AT_ONCE = 1000;

async function declaredAssignments(
  { dependencies, accountId }: Pick<Application, 'dependencies' | 'accountId'>,
  guardrailId: string,
): Promise<GuardrailAssignment[]> {
  const found: GuardrailAssignment[] = [];
  for (const kind of ['key', 'member'] as const) {
    for (let offset = 0, total = 1; offset < total; offset += ASSIGNMENTS_AT_ONCE) {
      const page = await dependencies.guardrailStore.listAssignments(
        { accountId, kind, guardrailId },
        { offset, limit: ASSIGNMENTS_AT_ONCE },
      );
      total = page.total;
      found.push(...page.assignments);
    }
  }
  return found.filter(({ fileMember }) => fileMember !== null);
}
