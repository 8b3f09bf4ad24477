import type { CreateMember, MemberObject, UpdateMember } from '../../api/contract.ts';
import type { Problems } from '../../parts/form/use-form.ts';

export type Role = MemberObject['role'];

/** Roles in the account, as people are asked and told, from all rights to none of its own. */
export const ROLE_TITLES: Readonly<Record<Role, string>> = {
  'org:owner': 'Owner',
  'org:admin': 'Admin',
  'org:billing': 'Billing',
  'org:auditor': 'Auditor',
  'org:member': 'Member',
};

/** The fields of a member, as text while they are typed. Their names are those of the interface. */
export interface MemberValues {
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly role: Role;
}

export function memberValues(member: MemberObject | null): MemberValues {
  return {
    email: member?.email ?? '',
    first_name: member?.first_name ?? '',
    last_name: member?.last_name ?? '',
    role: member?.role ?? 'org:member',
  };
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;

export function memberProblems({ email }: MemberValues): Problems<MemberValues> {
  return EMAIL.test(email.trim()) ? {} : { email: 'An address such as jane@example.com.' };
}

/** The body of `POST /organization/members`, or of `PATCH .../{id}` with what differs. What is empty is null. */
export function memberBody(values: MemberValues, member: MemberObject | null): CreateMember | UpdateMember {
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  const wanted: CreateMember = {
    email: values.email.trim().toLowerCase(),
    first_name: orNull(values.first_name),
    last_name: orNull(values.last_name),
    role: values.role,
  };
  if (member === null) return wanted;
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => member[name as keyof MemberObject] !== value),
  );
}

/** First and last name; the address of who has none. */
export function memberName({ first_name: first, last_name: last, email }: MemberObject): string {
  return [first, last].filter((name) => name !== null).join(' ') || email;
}
