import { GatewayError } from '../../ir/errors.ts';
import type { Nanos } from '../../kit/money.ts';
import type { Account, Tenancy } from '../../ports/tenancy.ts';
import { checkName } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { newWorkspace } from '../workspaces/new-workspace.ts';
import type { Credits } from './credits.ts';

/** The account that every installation begins with. */
const FIRST_ACCOUNT = 'default';

/** Makes and finds accounts. Refusals are GatewayErrors with a message for the person who asked. */
export class Accounts {
  readonly #tenancy: Tenancy;
  readonly #sources: Sources;
  readonly #credits: Pick<Credits, 'set'>;
  readonly #initialNanos: () => Nanos | null;

  /** `initialNanos` is what a new account is given; null = its balance is not enforced. */
  constructor(
    tenancy: Tenancy,
    sources: Sources,
    credits: Pick<Credits, 'set'>,
    initialNanos: () => Nanos | null,
  ) {
    this.#tenancy = tenancy;
    this.#sources = sources;
    this.#credits = credits;
    this.#initialNanos = initialNanos;
  }

  /** Makes an account with its default workspace and what it is given to begin with. */
  async create(name: string): Promise<Account> {
    checkName('name', name);
    if ((await this.#tenancy.findAccount(name)) !== undefined) throw nameTaken(name);
    const createdAtMs = this.#sources.clock.now();
    const account: Account = { id: this.#sources.uuid(), name, createdAtMs };
    const initialNanos = this.#initialNanos();
    // First of all: an account that is there without its grant would not be limited by anything.
    if (initialNanos !== null) await this.#credits.set(account.id, initialNanos);
    const created = await this.#tenancy.createAccount(
      account,
      newWorkspace({
        id: this.#sources.uuid(),
        accountId: account.id,
        slug: 'default',
        name: 'Default Workspace',
        isDefault: true,
        createdAtMs,
      }),
    );
    if (created) return account;
    // Another gateway was quicker: what was given to nobody is taken back.
    if (initialNanos !== null) await this.#credits.set(account.id, null);
    throw nameTaken(name);
  }

  /** Oldest first. */
  list(): Promise<Account[]> {
    return this.#tenancy.listAccounts();
  }

  /** The account of that name; the first one when no name is given. */
  async require(name: string | undefined): Promise<Account> {
    if (name === undefined) return this.ensureFirst();
    const account = await this.#tenancy.findAccount(name);
    if (account === undefined)
      throw new GatewayError('not-found', `account: there is no account named ${name}`);
    return account;
  }

  /** The oldest account, made if there is none. */
  async ensureFirst(): Promise<Account> {
    const [first] = await this.list();
    if (first !== undefined) return first;
    try {
      return await this.create(FIRST_ACCOUNT);
    } catch (error) {
      // Another gateway on the same database may have been quicker.
      const [made] = await this.list();
      if (made !== undefined) return made;
      throw error;
    }
  }
}

function nameTaken(name: string): GatewayError {
  return new GatewayError('conflict', `name: there already is an account named ${name}`);
}
