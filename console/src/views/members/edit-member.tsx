import { useQueryClient } from '@tanstack/preact-query';
import type { MemberObject } from '../../api/contract.ts';
import { send } from '../../api/request.ts';
import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { toast } from '../../parts/toast.tsx';
import {
  type MemberValues,
  memberBody,
  memberName,
  memberProblems,
  memberValues,
  ROLE_TITLES,
  type Role,
} from './member-form.ts';
import { MEMBERS_PATH, MEMBERS_QUERY } from './use-members.ts';

const ROLES = Object.entries(ROLE_TITLES) as [Role, string][];

interface Props {
  /** Null = a new one. */
  readonly member: MemberObject | null;
  readonly onClose: () => void;
}

/** Adds a person to the account, or changes what is known of one. */
export function EditMember({ member, onClose }: Props) {
  const queries = useQueryClient();
  const isDeclared = member?.managed_by === 'file';
  const request = (body: object) =>
    member === null
      ? ({ method: 'POST', path: MEMBERS_PATH, body } as const)
      : ({ method: 'PATCH', path: `${MEMBERS_PATH}/${member.id}`, body } as const);
  const form = useForm<MemberValues>({
    initial: memberValues(member),
    check: memberProblems,
    save: async (values) => {
      const body = memberBody(values, member);
      if (Object.keys(body).length > 0) {
        const { path, ...rest } = request(body);
        await send(path, rest);
        await queries.invalidateQueries({ queryKey: MEMBERS_QUERY });
        toast(`${values.email.trim()} was ${member === null ? 'added' : 'changed'}.`);
      }
      onClose();
    },
  });
  return (
    <FormDialog
      title={member === null ? 'Add a member' : memberName(member)}
      action={member === null ? 'Add member' : 'Save changes'}
      form={form}
      means={meansOf(form.values, isDeclared)}
      call={request(memberBody(form.values, member))}
      isReadOnly={isDeclared}
      onClose={onClose}
    >
      <TextField field={form.field('email')} label="Address" maxLength={254} disabled={isDeclared} />
      <div class="f-row g2">
        <TextField
          field={form.field('first_name')}
          label="First name"
          maxLength={100}
          disabled={isDeclared}
        />
        <TextField field={form.field('last_name')} label="Last name" maxLength={100} disabled={isDeclared} />
      </div>
      <SelectField
        field={form.field('role')}
        label="Role in the account"
        options={ROLES}
        disabled={isDeclared}
        hint="Kept and shown. What a request may do is decided by its key."
      />
    </FormDialog>
  );
}

function meansOf({ email }: MemberValues, isDeclared: boolean) {
  const who = email.trim() === '' ? 'The member' : email.trim();
  return [
    ...(isDeclared
      ? [<>The configuration file of the gateway declares this member: change it there.</>]
      : []),
    <>
      <b>{who}</b> owns the keys that are made with the member’s id as <code>creator_user_id</code>.
    </>,
    <>Guardrails of a member hold for all of these keys.</>,
    <>Disable the member, and all of the keys and sessions stop working at once.</>,
  ];
}
