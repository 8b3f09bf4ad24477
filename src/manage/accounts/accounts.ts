import { GatewayError } from '../../ir/errors.ts';
import type { Nanos } from '../../kit/money.ts';
import type { Account, Tenancy } from '../../ports/tenancy/tenancy.ts';
import { checkName } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { newWorkspace } from '../workspaces/new-workspace.ts';
import type { Credits } from './credits.ts';

/** The account that every installation begins with. */
const FIRST_ACCOUNT = 'default';

/** Creates and finds accounts. Refusals are GatewayErrors whose message is shown to the operator. */
export class Accounts {
  readonly #tenancy: Tenancy;
  readonly #sources: Sources;
  readonly #credits: Pick<Credits, 'set'>;
  readonly #initialNanos: () => Nanos | null;

  /** `initialNanos`: balance of a new account; null = not enforced. */
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

  /** Creates an account with its default workspace and its initial balance. */
  async create(name: string): Promise<Account> {
    checkName('name', name);
    if ((await this.#tenancy.findAccount(name)) !== undefined) throw nameTaken(name);
    const createdAtMs = await this.#nextMoment();
    const account: Account = { id: this.#sources.uuid(), name, createdAtMs };
    const initialNanos = this.#initialNanos();
    // Before the account exists: an account without its grant would be unlimited.
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
    // Another gateway created the name first: withdraw the grant of the id that was not used.
    if (initialNanos !== null) await this.#credits.set(account.id, null);
    throw nameTaken(name);
  }

  /** Later than all accounts: the oldest is meant where none is named, so that no two may be of one moment. */
  async #nextMoment(): Promise<number> {
    const latest = (await this.list()).at(-1)?.createdAtMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#sources.clock.now(), latest + 1);
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

  /** The oldest account; creates it if there is none. */
  async ensureFirst(): Promise<Account> {
    const [first] = await this.list();
    if (first !== undefined) return first;
    try {
      return await this.create(FIRST_ACCOUNT);
    } catch (error) {
      // Another gateway on the same database may have created it meanwhile.
      const [made] = await this.list();
      if (made !== undefined) return made;
      throw error;
    }
  }
}

function nameTaken(name: string): GatewayError {
  return new GatewayError('conflict', `name: there already is an account named ${name}`);
}
