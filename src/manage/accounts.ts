import { GatewayError } from '../ir/errors.ts';
import type { Account, Tenancy } from '../ports/tenancy.ts';
import { checkName } from './names.ts';
import type { Sources } from './sources.ts';

/** The account that every installation begins with. */
const FIRST_ACCOUNT = 'default';

/** Makes and finds accounts. Refusals are GatewayErrors with a message for the person who asked. */
export class Accounts {
  readonly #tenancy: Tenancy;
  readonly #sources: Sources;

  constructor(tenancy: Tenancy, sources: Sources) {
    this.#tenancy = tenancy;
    this.#sources = sources;
  }

  /** Makes an account with its default workspace. */
  async create(name: string): Promise<Account> {
    checkName('name', name);
    const createdAtMs = this.#sources.clock.now();
    const account: Account = { id: this.#sources.uuid(), name, createdAtMs };
    const created = await this.#tenancy.createAccount(account, {
      id: this.#sources.uuid(),
      accountId: account.id,
      slug: 'default',
      name: 'Default Workspace',
      isDefault: true,
      createdAtMs,
    });
    if (!created) throw new GatewayError('conflict', `name: there already is an account named ${name}`);
    return account;
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
    return (await this.list())[0] ?? (await this.create(FIRST_ACCOUNT));
  }
}
