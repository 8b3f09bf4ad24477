import type { Flags } from '../config/runtime.ts';
import type { CommandInput } from '../control/commands.ts';
import { compact } from '../kit/json/members.ts';
import type { LimitWindow } from '../kit/time/windows.ts';
import type { CommandWords } from './command-table.ts';
import {
  assignmentOperands,
  byokFlag,
  keyOperand,
  keySettings,
  memberOperand,
  memberSettings,
  operand,
  placeFlags,
  type Run,
  requireChange,
  textFlag,
  workspaceSettings,
} from './read-flags.ts';
import type { CommandResult } from './terminal/output.ts';

type Runner = (line: Run, flags: Flags) => Promise<CommandResult<unknown>>;

/** Commands that print while they run, or choose their exit code; `run.ts` has them. */
type PrintingCommand = 'serve' | 'check-config' | 'catalog refresh' | 'usage import' | 'generations tail';

/** Commands whose whole output is one result. Their code is imported when they run. */
export const RESULT_RUNNERS: Readonly<Record<Exclude<CommandWords, PrintingCommand>, Runner>> = {
  // Imports nothing else first: doctor reports packages that cannot be loaded.
  doctor: async (_line, flags) => (await import('./commands/doctor.ts')).runDoctor(flags),
  schema: async () => (await import('./commands/schema.ts')).showSchema(),
  'keys create': async (line, flags) =>
    (await keys()).createKey(flags, {
      ...keySettings(line),
      name: textFlag(line, 'name') ?? '',
      account: textFlag(line, 'account'),
      workspace: textFlag(line, 'workspace'),
      management: line.flags.management === true,
      owner: textFlag(line, 'owner'),
    }),
  'keys update': async (line, flags) =>
    (await keys()).updateKey(flags, { ...keyOperand(line), change: requireChange(keySettings(line), line) }),
  'keys disable': async (line, flags) =>
    (await keys()).updateKey(flags, { ...keyOperand(line), change: { disabled: true } }),
  'keys enable': async (line, flags) =>
    (await keys()).updateKey(flags, { ...keyOperand(line), change: { disabled: false } }),
  'keys show': async (line, flags) => (await keys()).showKey(flags, keyOperand(line)),
  'keys list': async (line, flags) => (await keys()).listKeys(flags, { account: textFlag(line, 'account') }),
  'keys revoke': async (line, flags) => (await keys()).revokeKey(flags, keyOperand(line)),
  'guardrails list': async (line, flags) =>
    (await guardrails()).listGuardrails(flags, { account: textFlag(line, 'account') }),
  'guardrails assign': async (line, flags) =>
    (await guardrails()).assignGuardrail(flags, assignmentOperands(line), { yes: line.flags.yes === true }),
  'guardrails unassign': async (line, flags) =>
    (await guardrails()).unassignGuardrail(flags, assignmentOperands(line)),
  'workspaces list': async (line, flags) =>
    (await workspaces()).listWorkspaces(flags, { account: textFlag(line, 'account') }),
  'workspaces create': async (line, flags) =>
    (await workspaces()).createWorkspace(flags, {
      account: textFlag(line, 'account'),
      workspace: { name: operand(line), slug: operand(line), ...workspaceSettings(line) },
    }),
  'workspaces update': async (line, flags) =>
    (await workspaces()).updateWorkspace(flags, {
      account: textFlag(line, 'account'),
      workspace: operand(line),
      change: requireChange(workspaceSettings(line), line),
    }),
  'workspaces delete': async (line, flags) =>
    (await workspaces()).deleteWorkspace(flags, {
      account: textFlag(line, 'account'),
      workspace: operand(line),
    }),
  'budgets list': async (line, flags) => (await budgets()).listBudgets(flags, placeFlags(line)),
  'budgets set': async (line, flags) =>
    (await budgets()).setBudget(flags, {
      ...placeFlags(line),
      window: operand(line) as LimitWindow,
      limit: line.operands[1] ?? '',
      include_byok: byokFlag(line),
    }),
  'budgets remove': async (line, flags) =>
    (await budgets()).removeBudget(flags, { ...placeFlags(line), window: operand(line) as LimitWindow }),
  'byok list': async (line, flags) => (await byok()).listByok(flags, placeFlags(line)),
  'byok add': async (line, flags) =>
    (await byok()).addByok(flags, {
      ...placeFlags(line),
      all_workspaces: line.flags['all-workspaces'] === true,
      variable: textFlag(line, 'secret-env'),
      credential: compact({
        provider: operand(line),
        name: textFlag(line, 'name'),
        is_fallback: line.flags.fallback === true,
        is_required: line.flags.required === true,
        is_byok_only: line.flags['byok-only'] === true,
      }),
    }),
  'byok remove': async (line, flags) =>
    (await byok()).removeByok(flags, { account: textFlag(line, 'account'), id: operand(line) }),
  'providers list': async (_line, flags) => (await providers()).listProviders(flags),
  'providers add': async (line, flags) => (await providers()).addProvider(flags, operand(line), line),
  'providers test': async (line, flags) => (await providers()).testProvider(flags, operand(line)),
  'providers update': async (line, flags) => (await providers()).updateProvider(flags, operand(line), line),
  'providers disable': async (line, flags) =>
    (await providers()).switchProvider(flags, operand(line), { disabled: true }),
  'providers enable': async (line, flags) =>
    (await providers()).switchProvider(flags, operand(line), { disabled: false }),
  'providers remove': async (line, flags) => (await providers()).removeProvider(flags, operand(line)),
  'members list': async (line, flags) =>
    (await members()).listMembers(flags, {
      account: textFlag(line, 'account'),
      search: textFlag(line, 'search'),
    }),
  'members add': async (line, flags) =>
    (await members()).addMember(flags, {
      account: textFlag(line, 'account'),
      member: { email: operand(line), ...memberSettings(line) },
    }),
  'members update': async (line, flags) =>
    (await members()).updateMember(flags, {
      ...memberOperand(line),
      change: requireChange(compact({ email: textFlag(line, 'email'), ...memberSettings(line) }), line),
    }),
  'members disable': async (line, flags) =>
    (await members()).updateMember(flags, { ...memberOperand(line), change: { disabled: true } }),
  'members enable': async (line, flags) =>
    (await members()).updateMember(flags, { ...memberOperand(line), change: { disabled: false } }),
  'members remove': async (line, flags) => (await members()).removeMember(flags, memberOperand(line)),
  'members assign': async (line, flags) =>
    (await members()).assignMember(flags, {
      ...memberOperand(line),
      workspace: textFlag(line, 'workspace'),
      role: line.operands[1] as CommandInput<'members.assign'>['role'],
    }),
  'members unassign': async (line, flags) =>
    (await members()).unassignMember(flags, { ...memberOperand(line), workspace: line.operands[1] ?? '' }),
  'accounts create': async (line, flags) => (await accounts()).createAccount(flags, operand(line)),
  'accounts list': async (_line, flags) => (await accounts()).listAccounts(flags),
  'credits set': async (line, flags) =>
    (await credits()).setCredits(flags, operand(line), textFlag(line, 'account')),
  'credits show': async (line, flags) => (await credits()).showCredits(flags, textFlag(line, 'account')),
  'catalog show': async (line, flags) =>
    (await import('./commands/catalog-show.ts')).showCatalog(flags, line.operands[0], {
      provider: textFlag(line, 'provider'),
      search: textFlag(line, 'search'),
      parameter: textFlag(line, 'parameter'),
      modality: textFlag(line, 'modality'),
      free: line.flags.free === true || undefined,
      available: line.flags.available === true || undefined,
    }),
  'ledger verify': async (_line, flags) => (await ledger()).verifyLedger(flags),
  'ledger rebuild': async (_line, flags) => (await ledger()).rebuildLedger(flags),
  'ledger accept-loss': async (_line, flags) => (await ledger()).acceptLedgerLoss(flags),
  migrate: async (line, flags) =>
    (await import('./commands/migrate.ts')).migrateDatabase(flags, line.flags.check === true),
  'rotate-encryption-key': async (line, flags) =>
    (await import('./commands/rotate-encryption-key.ts')).rotateEncryptionKey(
      flags,
      textFlag(line, 'new-key-file'),
    ),
  backup: async (line, flags) =>
    (await import('./commands/backup.ts')).backUpInstallation(flags, operand(line), {
      withoutContent: line.flags['without-content'] === true,
      withoutEncryptionKey: line.flags['without-encryption-key'] === true,
    }),
  restore: async (line, flags) =>
    (await import('./commands/restore.ts')).restoreInstallation(flags, operand(line)),
  completion: async (line) => (await import('./commands/completion.ts')).completionScript(operand(line)),
};

const keys = () => import('./commands/keys.ts');
const accounts = () => import('./commands/accounts.ts');
const credits = () => import('./commands/credits.ts');
const guardrails = () => import('./commands/guardrails.ts');
const workspaces = () => import('./commands/workspaces.ts');
const budgets = () => import('./commands/budgets.ts');
const byok = () => import('./commands/byok.ts');
const members = () => import('./commands/members.ts');
const providers = () => import('./commands/providers.ts');
const ledger = () => import('./commands/ledger.ts');

export function configurationFlags(line: Run): Flags {
  return {
    config: textFlag(line, 'config'),
    dataDir: textFlag(line, 'data-dir'),
    port: textFlag(line, 'port'),
    host: textFlag(line, 'host'),
    workers: textFlag(line, 'workers'),
  };
}
