import { type KeyObject, keyObject } from '../contract/keys/key.ts';
import { usdOf } from '../kit/money.ts';
import type { AccountBalance } from '../manage/accounts/credits.ts';
import type { Rotation } from '../manage/byok/vault.ts';
import type { KeyStatement } from '../manage/keys/key-statement.ts';
import type { Appended } from '../ports/events/events.ts';
import type { Account } from '../ports/tenancy/tenancy.ts';
import type { OwnedWorkspace } from './workspace-commands.ts';

/** A key in the output of commands: as the management API shows it, with the names of its owners. */
export interface KeyView extends KeyObject {
  readonly account: string;
  readonly account_id: string;
  /** Slug. */
  readonly workspace: string;
  readonly is_management_key: boolean;
}

/** A new key; `key` is its secret, which is shown only here. */
export interface IssuedKeyView extends KeyView {
  readonly key: string;
}

export function keyView(statement: KeyStatement, owned: readonly OwnedWorkspace[]): KeyView {
  const { key } = statement;
  const home = owned.find(({ workspace }) => workspace.id === key.workspaceId);
  return {
    ...keyObject(statement),
    account: home?.owner.name ?? key.accountId,
    account_id: key.accountId,
    workspace: home?.workspace.slug ?? key.workspaceId,
    is_management_key: key.isManagement,
  };
}

/** The balance of an account, USD; open reservations are not counted. */
export interface CreditsView {
  readonly account: string;
  readonly account_id: string;
  /** Null = not enforced. */
  readonly left_usd: number | null;
  readonly used_usd: number;
}

export function creditsView({ id, name }: Account, { usedNanos, leftNanos }: AccountBalance): CreditsView {
  return {
    account: name,
    account_id: id,
    left_usd: leftNanos === null ? null : usdOf(leftNanos),
    used_usd: usdOf(usedNanos),
  };
}

/** Result of a usage import, in events. */
export interface ImportedView {
  readonly imported: number;
  /** Imported before, or twice in the file. */
  readonly known: number;
  /** From before the last pruning. */
  readonly too_old: number;
}

export function importedView({ added, known, tooOld }: Appended): ImportedView {
  return { imported: added, known, too_old: tooOld };
}

export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

/** A new account; `management_key` is the secret of its first key, which is shown only here. */
export interface NewAccountView extends AccountView {
  readonly management_key: string;
}

export interface RotationView {
  readonly key_id: string;
  readonly previous_key_id: string;
  /** Credentials that were re-encrypted. */
  readonly credentials: number;
  /** Where the next start reads the key: a variable or a file. */
  readonly source: string;
  /** The operator has to put the new key there. */
  readonly must_be_given: boolean;
}

export function rotationView(rotation: Rotation): RotationView {
  return {
    key_id: rotation.keyId,
    previous_key_id: rotation.previousKeyId,
    credentials: rotation.credentials,
    source: rotation.source,
    must_be_given: rotation.mustBeGiven,
  };
}

export function accountView(account: Account): AccountView {
  return { id: account.id, name: account.name, created_at: new Date(account.createdAtMs).toISOString() };
}
