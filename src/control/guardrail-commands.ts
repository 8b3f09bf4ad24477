import Type from 'typebox';
import type { GuardrailObject } from '../contract/guardrails/guardrail.ts';
import { guardrailObject } from '../contract/guardrails/guardrail-object.ts';
import { GatewayError } from '../ir/errors.ts';
import { closed } from '../kit/json/schema.ts';
import type { WholeKey } from '../manage/keys/keys.ts';
import type { Guardrail } from '../ports/tenancy/guardrails.ts';
import { type CommandServices, command, oneAccount, text } from './command.ts';

/** A guardrail in the output of commands: as the management API shows it, with what it applies to. */
export interface GuardrailView extends GuardrailObject {
  /** Name. */
  readonly account: string;
  readonly assigned_keys: number;
  readonly assigned_members: number;
}

/** What a command has done, or would do, to the guardrail of a key. */
export interface AssignmentView {
  /** False if the key has another guardrail, which was not to be replaced. */
  readonly is_changed: boolean;
  readonly guardrail: NamedView;
  readonly key: { readonly hash: string; readonly name: string };
  /** The guardrail of the key that is, or would be, replaced; null = none. */
  readonly replaced: NamedView | null;
}

interface NamedView {
  readonly id: string;
  readonly name: string;
}

/** A guardrail, by id or name, and a key, by its hash or the beginning of it. */
const ASSIGNMENT = { account: oneAccount, guardrail: text, key: text };

export const GUARDRAIL_COMMANDS = {
  'guardrails.list': command(
    'guardrails.read',
    closed({ account: oneAccount }),
    async ({ accounts, guardrails }, { account }): Promise<GuardrailView[]> => {
      const views: GuardrailView[] = [];
      for (const owner of account === undefined ? await accounts.list() : [await accounts.require(account)]) {
        const countsOf = await guardrails.assignedCounts(owner.id);
        for (const guardrail of await guardrails.listAll(owner.id)) {
          const { key, member } = countsOf(guardrail);
          const assigned = { assigned_keys: key, assigned_members: member };
          views.push({ ...guardrailObject(guardrail), ...assigned, account: owner.name });
        }
      }
      return views;
    },
  ),
  'guardrails.assign': command(
    'guardrails.change',
    closed({ ...ASSIGNMENT, replace: Type.Boolean() }),
    async (services, input): Promise<AssignmentView> => {
      const { owner, guardrail } = await assignmentOf(services, input);
      const { key, guardrails } = owner;
      const before = guardrails.find(({ scope }) => scope === 'api-key')?.guardrail;
      const replaced = before === undefined || before.id === guardrail.id ? null : before;
      const isChanged = replaced === null || input.replace;
      if (isChanged) await services.guardrailAssignments.assign(key, guardrail.id, 'key', [key.hash]);
      return assignmentView(key, guardrail, { isChanged, replaced });
    },
  ),
  'guardrails.unassign': command(
    'guardrails.change',
    closed(ASSIGNMENT),
    async (services, input): Promise<AssignmentView> => {
      const { owner, guardrail } = await assignmentOf(services, input);
      const { accountId, hash } = owner.key;
      const count = await services.guardrailAssignments.unassign(accountId, guardrail.id, 'key', [hash]);
      return assignmentView(owner.key, guardrail, { isChanged: count > 0, replaced: null });
    },
  ),
} as const;

/** The key and the guardrail, of one account. */
async function assignmentOf(
  { keys, guardrails }: CommandServices,
  {
    account,
    guardrail: given,
    key,
  }: { readonly account?: string; readonly guardrail: string; readonly key: string },
): Promise<{ readonly owner: WholeKey; readonly guardrail: Guardrail }> {
  const owner = await keys.getNamed(key, account);
  const all = await guardrails.listAll(owner.key.accountId);
  const [guardrail, other] = all.filter(({ id, name }) => id === given.toLowerCase() || name === given);
  if (guardrail === undefined) {
    throw new GatewayError('not-found', `guardrail: no guardrail has the id or name ${given}`);
  }
  if (other !== undefined) {
    throw new GatewayError('conflict', `guardrail: more than one guardrail is called ${given}; give its id`);
  }
  return { owner, guardrail };
}

function assignmentView(
  { hash, name }: WholeKey['key'],
  guardrail: Guardrail,
  { isChanged, replaced }: { readonly isChanged: boolean; readonly replaced: Guardrail | null },
): AssignmentView {
  const named = ({ id, name: title }: Guardrail): NamedView => ({ id, name: title });
  return {
    is_changed: isChanged,
    guardrail: named(guardrail),
    key: { hash, name },
    replaced: replaced && named(replaced),
  };
}
