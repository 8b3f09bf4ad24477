import type { GuardrailObject } from '../contract/guardrails/guardrail.ts';
import { guardrailObject } from '../contract/guardrails/guardrail-object.ts';
import { closed } from '../kit/json/schema.ts';
import { ASSIGNMENT_KINDS, type AssignmentKind, type Guardrail } from '../ports/guardrails.ts';
import { type CommandServices, command, oneAccount } from './command.ts';

/** A guardrail in the output of commands: as the management API shows it, with what it applies to. */
export interface GuardrailView extends GuardrailObject {
  /** Name. */
  readonly account: string;
  /** `account` or `workspace`: the guardrail of all their keys; null = only of what it is assigned to. */
  readonly default_of: 'account' | 'workspace' | null;
  readonly assigned_keys: number;
  readonly assigned_members: number;
}

export const GUARDRAIL_COMMANDS = {
  'guardrails.list': command(
    'guardrails.read',
    closed({ account: oneAccount }),
    async (services, { account }): Promise<GuardrailView[]> => {
      const { accounts, guardrails } = services;
      const views: GuardrailView[] = [];
      for (const owner of account === undefined ? await accounts.list() : [await accounts.require(account)]) {
        for (const guardrail of await guardrails.listAll(owner.id)) {
          views.push(await guardrailView(services, guardrail, owner.name));
        }
      }
      return views;
    },
  ),
} as const;

async function guardrailView(
  { guardrails, guardrailAssignments }: CommandServices,
  guardrail: Guardrail,
  account: string,
): Promise<GuardrailView> {
  const { accountId, id } = guardrail;
  const countOf = async (kind: AssignmentKind) =>
    (await guardrailAssignments.list(accountId, kind, id, { limit: 1 })).total;
  const [keys = 0, members = 0] = await Promise.all(ASSIGNMENT_KINDS.map(countOf));
  return {
    ...guardrailObject(guardrail),
    account,
    default_of: guardrails.defaultOf(guardrail),
    assigned_keys: keys,
    assigned_members: members,
  };
}
