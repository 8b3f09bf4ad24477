import type { Config } from '../../config/schema/schema.ts';
import type { Classifier, ClassifierStore } from '../../ports/following/classifiers.ts';
import type { Destination, DestinationStore } from '../../ports/following/destinations.ts';
import type { ByokStore, StoredByokCredential } from '../../ports/tenancy/byok.ts';
import type { Guardrail, GuardrailStore } from '../../ports/tenancy/guardrails.ts';
import type { Key, Tenancy, Workspace } from '../../ports/tenancy/tenancy.ts';
import type { Vault } from '../byok/vault.ts';
import type { Sources } from '../sources.ts';

export type DeclaredWorkspace = Config['workspaces'][number];
export type DeclaredKey = NonNullable<DeclaredWorkspace['keys']>[number];
export type DeclaredGuardrail = NonNullable<DeclaredWorkspace['guardrails']>[number];
export type DeclaredCredential = NonNullable<DeclaredWorkspace['byok']>[number];
export type DeclaredClassifier = NonNullable<DeclaredWorkspace['classifiers']>[number];
export type DeclaredDestination = NonNullable<DeclaredWorkspace['destinations']>[number];

export interface DeclaredDependencies {
  readonly tenancy: Tenancy;
  readonly byokStore: ByokStore;
  readonly guardrailStore: GuardrailStore;
  readonly destinationStore: DestinationStore;
  readonly classifierStore: ClassifierStore;
  readonly vault: Vault;
  readonly sources: Sources;
  readonly changedKey: (hash: string) => void;
  /** Called with every workspace that was stored, or whose budgets, credentials and the like were. */
  readonly changedWorkspace: (workspace: Pick<Workspace, 'id' | 'accountId'>) => void;
  /** Called with the account whose guardrails or assignments were stored. */
  readonly changedGuardrails: (accountId: string) => void;
}

/** Declarations of the file when it was last applied. */
export interface FormerDeclarations {
  readonly workspaces: readonly Workspace[];
  readonly keys: readonly Key[];
  readonly credentials: readonly StoredByokCredential[];
  readonly guardrails: readonly Guardrail[];
  readonly destinations: readonly Destination[];
  readonly classifiers: readonly Classifier[];
}

export interface DeclaredChanges {
  created: number;
  updated: number;
  /** No longer in the file: disabled, deleted, or free to be changed by hand again, each kind as it says. */
  released: number;
}

export interface Application {
  readonly dependencies: DeclaredDependencies;
  readonly accountId: string;
  /** All providers of the file, for the labels of credentials. */
  readonly config: Config;
  readonly former: FormerDeclarations;
  readonly changes: DeclaredChanges;
}

/** A declared workspace as it is stored, and where it is in the file. */
export interface DeclaredPlace {
  readonly declared: DeclaredWorkspace;
  readonly workspace: Workspace;
  /** Such as `workspaces[0]`. */
  readonly path: string;
}

export interface DeclaredKind {
  /** Stores what a workspace declares of this kind, if it differs. Resolves with the ids. */
  store(application: Application, place: DeclaredPlace): Promise<readonly string[]>;
  /** Releases what was declared before and is not among the ids that are now. */
  release(application: Application, declared: ReadonlySet<string>): Promise<void>;
}
