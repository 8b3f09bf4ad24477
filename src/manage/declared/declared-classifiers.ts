import { derivedUuid } from '../../kit/crypto/derived-uuid.ts';
import type { Classifier, ClassifierEdit } from '../../ports/following/classifiers.ts';
import {
  CLASSIFIER_DEFAULTS,
  classifierChangeOf,
  type WantedClassifier,
} from '../classifiers/classifier-change.ts';
import type { Application, DeclaredClassifier, DeclaredKind, DeclaredPlace } from './application.ts';
import { differs } from './declared-workspace.ts';

/** Classifiers. One that has left the file is switched off, and may be changed by hand: its tags stay. */
export const DECLARED_CLASSIFIERS: DeclaredKind = {
  async store(application, place) {
    const { declared, workspace, path } = place;
    const entries = (declared.classifiers ?? []).map((each, index) => ({
      declared: each,
      id: classifierIdOf(workspace.id, each),
      path: `${path}.classifiers[${index}]`,
    }));
    const ids = entries.map(({ id }) => id);
    // First of all, because at most one of a workspace is active.
    const left = application.former.classifiers.filter(
      ({ id, workspaceId }) => workspaceId === workspace.id && !ids.includes(id),
    );
    await releaseAll(application, left);
    for (const isActive of [false, true]) {
      for (const entry of entries) {
        if ((entry.declared.is_active ?? true) === isActive) await storeClassifier(application, place, entry);
      }
    }
    return ids;
  },
  async release(application, declared) {
    await releaseAll(
      application,
      application.former.classifiers.filter(({ id }) => !declared.has(id)),
    );
  },
};

/** Makes the id from what the file says: every gateway gets the same one at every start. */
export function classifierIdOf(workspaceId: string, { name }: Pick<DeclaredClassifier, 'name'>): string {
  return derivedUuid(`declared classifier ${JSON.stringify([workspaceId, name])}`);
}

async function releaseAll(
  { dependencies, accountId, changes }: Application,
  classifiers: readonly Classifier[],
): Promise<void> {
  const { classifierStore, sources, changedWorkspace } = dependencies;
  for (const { id, workspaceId } of classifiers) {
    const known = await classifierStore.find(accountId, id);
    // This application, or another gateway with the same file, may have released it before.
    if (known === undefined || known.fileMember === null) continue;
    const edit = { isActive: false, fileMember: null };
    await classifierStore.update(accountId, id, () => edit, sources.clock.now());
    changedWorkspace({ id: workspaceId, accountId });
    changes.released++;
  }
}

interface Entry {
  readonly declared: DeclaredClassifier;
  readonly id: string;
  readonly path: string;
}

async function storeClassifier(
  { dependencies, accountId, changes }: Application,
  { workspace }: DeclaredPlace,
  { declared, id, path }: Entry,
): Promise<void> {
  const { classifierStore, sources, changedWorkspace } = dependencies;
  const { name, model } = declared;
  const edit = {
    ...CLASSIFIER_DEFAULTS,
    dimensions: [],
    ...classifierChangeOf(settingsOf(declared)),
    name,
    model,
    fileMember: path,
  } satisfies ClassifierEdit;
  const known = await classifierStore.find(accountId, id);
  const nowMs = sources.clock.now();
  let stored: Classifier | 'has-active' | undefined;
  if (known === undefined) {
    const owner = { id, accountId, workspaceId: workspace.id };
    stored = await classifierStore.insert({ ...edit, ...owner, createdAtMs: nowMs, updatedAtMs: null });
    changes.created++;
  } else {
    if (!differs<ClassifierEdit>(known, edit)) return;
    stored = await classifierStore.update(accountId, id, () => edit, nowMs);
    changes.updated++;
  }
  if (stored === 'has-active')
    throw new Error(`${path}: another one was switched on while the file was stored`);
  changedWorkspace(workspace);
}

/** Null members of the file count as absent. */
function settingsOf(declared: DeclaredClassifier): WantedClassifier {
  return Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== null));
}
