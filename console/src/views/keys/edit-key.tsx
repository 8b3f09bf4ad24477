import { useQuery, useQueryClient } from '@tanstack/preact-query';
import type { KeyObject, UpdateKey, WorkspaceObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { workspaceName } from '../../api/workspaces.ts';
import { exactMoney, shortMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { datedTime, dateTime } from '../../format/times.ts';
import { PER_WINDOW } from '../../format/windows.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { GuardrailLinks } from './guardrail-links.tsx';
import { windowOf } from './key-facts.ts';
import { ExpiryField, LimitFields, MinuteFields, NameField } from './key-fields.tsx';
import { changeableValues, earlierBudget, keyProblems, updateBody } from './key-form.ts';
import { keyMeans } from './key-means.tsx';
import { ModelsField } from './models-field.tsx';

interface Props {
  readonly hash: string;
  readonly workspaces: readonly WorkspaceObject[];
  readonly onClose: () => void;
}

/** One key: its figures and, unless the configuration file declares it, a form for its settings. */
export function OpenKey({ hash, workspaces, onClose }: Props) {
  const read = useQuery({
    queryKey: ['key', hash],
    queryFn: async () => (await ask<{ data: KeyObject }>(`/keys/${hash}`)).data,
    // What is typed must not be replaced by what is read again.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (read.isError) {
    return (
      <Dialog title="Key" onClose={onClose} class="narrow-d">
        <div class="dlg-b">
          <FailureNote error={read.error} onRetry={() => read.refetch()} />
        </div>
      </Dialog>
    );
  }
  if (read.data === undefined) {
    return (
      <Dialog title="Key" onClose={onClose} class="narrow-d">
        <SkeletonRows count={4} />
      </Dialog>
    );
  }
  return read.data.managed_by === 'file' ? (
    <DeclaredKey row={read.data} workspaces={workspaces} onClose={onClose} />
  ) : (
    <EditKey row={read.data} workspaces={workspaces} onClose={onClose} />
  );
}

interface KeyProps extends Omit<Props, 'hash'> {
  readonly row: KeyObject;
}

function EditKey({ row, workspaces, onClose }: KeyProps) {
  const queries = useQueryClient();
  const workspace = workspaces.find(({ id }) => id === row.workspace_id);
  const change = async (body: UpdateKey): Promise<void> => {
    await ask(`/keys/${row.hash}`, { method: 'PATCH', body });
    await queries.invalidateQueries({ queryKey: ['keys'] });
  };
  const form = useForm({
    initial: changeableValues(row),
    check: (values) => keyProblems(values, Date.now(), row),
    save: async (values) => {
      const body = updateBody(values, row);
      if (Object.keys(body).length > 0) {
        await change(body);
        const before = Object.fromEntries(
          Object.keys(body).map((name) => [name, row[name as keyof KeyObject]]),
        );
        const isOver = before.expires_at !== undefined && Date.parse(String(before.expires_at)) <= Date.now();
        // A moment that is over cannot be given back.
        toast(`${row.name} was changed.`, isOver ? undefined : () => change(before));
      }
      onClose();
    },
  });
  return (
    <FormDialog
      title={row.name}
      action="Save changes"
      form={form}
      means={keyMeans(form.values, workspace, Date.now())}
      call={{ method: 'PATCH', path: `/keys/${row.hash}`, body: updateBody(form.values, row) }}
      onClose={onClose}
    >
      <NameField field={form.field('name')} />
      <LimitFields
        limit={form.field('limit')}
        reset={form.field('limit_reset')}
        byok={form.field('include_byok_in_limit')}
        warning={earlierBudget(form.values, workspace?.budgets ?? [])}
      />
      <ModelsField field={form.field('allowed_models')} />
      <MinuteFields requests={form.field('requests_per_minute')} tokens={form.field('tokens_per_minute')} />
      <ExpiryField field={form.field('expires_at')} />
      <KeyFacts row={row} workspaces={workspaces} />
    </FormDialog>
  );
}

/** A key of the configuration file: shown, not changed. */
function DeclaredKey({ row, workspaces, onClose }: KeyProps) {
  return (
    <Dialog title={row.name} onClose={onClose} class="narrow-d">
      <div class="dlg-b stack-16">
        <div class="note">
          <div>
            The configuration file of the gateway declares this key, so it is changed there. The gateway reads
            the file again within a second.
          </div>
        </div>
        <dl class="kv">
          <dt>Limit</dt>
          <dd>{row.limit === null ? 'none' : `${shortMoney(row.limit)} ${PER_WINDOW[windowOf(row)]}`}</dd>
          <dt>Models</dt>
          <dd>{row.allowed_models === null ? 'all' : row.allowed_models.join(', ')}</dd>
          <dt>Requests a minute</dt>
          <dd>{row.requests_per_minute === null ? 'as for all keys' : count(row.requests_per_minute)}</dd>
          <dt>Tokens a minute</dt>
          <dd>{row.tokens_per_minute === null ? 'as for all keys' : count(row.tokens_per_minute)}</dd>
          <dt>Expires</dt>
          <dd>{row.expires_at === null ? 'never' : datedTime(Date.parse(row.expires_at))}</dd>
        </dl>
        <KeyFacts row={row} workspaces={workspaces} />
      </div>
    </Dialog>
  );
}

/** What is known of a key and cannot be changed. */
function KeyFacts({ row, workspaces }: Pick<KeyProps, 'row' | 'workspaces'>) {
  const { main, below, exact } = exactMoney(row.usage);
  return (
    <dl class="kv key-facts">
      <dt>Total spent</dt>
      <dd>
        {main}
        <span class="dim">{below}</span> <CopyButton text={exact} what="the exact amount" />
        {row.byok_usage > 0 && (
          <span class="dim"> and {shortMoney(row.byok_usage)} on own provider keys</span>
        )}
      </dd>
      <dt>Workspace</dt>
      <dd>{workspaceName(workspaces, row.workspace_id)}</dd>
      <dt>Key</dt>
      <dd>
        <code>{row.label}</code>
      </dd>
      <dt>Hash</dt>
      <dd class="r tight">
        <code class="cut">{row.hash}</code> <CopyButton text={row.hash} what="the hash" />
      </dd>
      <dt>Created</dt>
      <dd>{dateTime(Date.parse(row.created_at))}</dd>
      <dt>Guardrails</dt>
      <dd>
        {row.guardrails === undefined || row.guardrails.length === 0 ? (
          'none'
        ) : (
          <GuardrailLinks guardrails={row.guardrails} />
        )}
      </dd>
    </dl>
  );
}
