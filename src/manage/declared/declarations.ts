import type { Config } from '../../config/schema/schema.ts';
import type { FileMember } from '../../ports/tenancy/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type {
  Application,
  DeclaredChanges,
  DeclaredDependencies,
  DeclaredKind,
  DeclaredPlace,
} from './application.ts';
import { conflictsOf, DeclarationConflict } from './conflicts.ts';
import { DECLARED_BUDGETS } from './declared-budgets.ts';
import { DECLARED_CLASSIFIERS } from './declared-classifiers.ts';
import { DECLARED_CREDENTIALS } from './declared-credentials.ts';
import { DECLARED_DESTINATIONS } from './declared-destinations.ts';
import { DECLARED_GUARDRAILS } from './declared-guardrails.ts';
import { DECLARED_KEYS } from './declared-keys.ts';
import { releaseWorkspaces, storeWorkspace } from './declared-workspace.ts';

/** Kinds of things in workspaces of the file, in the order of storing: those behind keys may name them. */
const KINDS: readonly DeclaredKind[] = [
  DECLARED_BUDGETS,
  DECLARED_KEYS,
  DECLARED_CREDENTIALS,
  DECLARED_GUARDRAILS,
  DECLARED_DESTINATIONS,
  DECLARED_CLASSIFIERS,
];

export interface DeclarationsDependencies extends DeclaredDependencies {
  readonly accounts: Pick<Accounts, 'ensureFirst'>;
}

/**
 * Stores the workspaces of the configuration file, which belong to the first account. Storing the same file again
 * changes nothing, so that gateways that share a database may all do it.
 */
export class Declarations {
  readonly #dependencies: DeclarationsDependencies;
  #last: Promise<unknown> = Promise.resolve();

  constructor(dependencies: DeclarationsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Files are applied one after another. Rejects with DeclarationConflict before anything is changed. */
  apply(config: Config): Promise<DeclaredChanges> {
    const applying = this.#last.then(() => this.#apply(config));
    this.#last = applying.catch(() => {});
    return applying;
  }

  async #apply(config: Config): Promise<DeclaredChanges> {
    const application = await this.#begin(config);
    const conflicts = await conflictsOf(application);
    if (conflicts.length > 0) throw new DeclarationConflict(conflicts);
    const places: DeclaredPlace[] = [];
    for (const [index, declared] of config.workspaces.entries()) {
      const path = `workspaces[${index}]`;
      places.push({ declared, path, workspace: await storeWorkspace(application, declared, path) });
    }
    for (const kind of KINDS) {
      const declared = new Set<string>();
      for (const place of places) {
        for (const id of await kind.store(application, place)) declared.add(id);
      }
      await kind.release(application, declared);
    }
    await releaseWorkspaces(application, new Set(places.map(({ workspace }) => workspace.id)));
    return application.changes;
  }

  async #begin(config: Config): Promise<Application> {
    const { accounts, tenancy, byokStore, guardrailStore, destinationStore, classifierStore } =
      this.#dependencies;
    const { id: accountId } = await accounts.ensureFirst();
    const { workspaces, keys } = await tenancy.listDeclared(accountId);
    const declared = ({ fileMember }: { readonly fileMember: FileMember }) => fileMember !== null;
    const credentials = (await byokStore.listAll(accountId)).filter(declared);
    const guardrails = (await guardrailStore.listAll(accountId)).filter(declared);
    const destinations = (await destinationStore.listAll()).filter(
      (destination) => destination.accountId === accountId && declared(destination),
    );
    const classifiers = (await classifierStore.listDeclared()).filter(
      (classifier) => classifier.accountId === accountId,
    );
    return {
      dependencies: this.#dependencies,
      accountId,
      config,
      former: { workspaces, keys, credentials, guardrails, destinations, classifiers },
      changes: { created: 0, updated: 0, released: 0 },
    };
  }
}
