import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { ProviderStateObject, ProviderTestObject } from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { counted } from '../../format/numbers.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { FailureNote } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { ServeProvider } from './serve-provider.tsx';
import { TestResult } from './test-result.tsx';

const SETTERS = { file: 'the configuration file', environment: 'the environment' } as const;

/** What has the gateway serve a provider, and what can be done about it here. */
export function OwnProvider({ provider }: { readonly provider: ProviderStateObject }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
  const { slug, name, set_by: setBy, stored } = provider;
  const testing = useMutation({
    mutationFn: () =>
      ask<{ data: ProviderTestObject }>('/gateway/providers/test', { method: 'POST', body: { slug } }),
  });
  const switching = useMutation({
    mutationFn: async (disabled: boolean) => {
      await send(`/gateway/providers/${slug}`, { method: 'PATCH', body: { disabled } });
      await queries.invalidateQueries();
    },
  });
  const remove = async (): Promise<void> => {
    await send(`/gateway/providers/${slug}`, { method: 'DELETE' });
    toast(`${name} was removed, and its key wiped.`);
    await queries.invalidateQueries();
  };
  if (slug === 'simulator') return null;
  return (
    <>
      <p class="sm t2">{sentenceOf(provider)}</p>
      <div class="r wrap">
        <button class="b" type="button" disabled={testing.isPending} onClick={() => testing.mutate()}>
          <Icon name="play" size={14} />
          Test
        </button>
        {(setBy === null || setBy === 'stored' || stored !== null) && (
          <button class="b" type="button" onClick={() => setOpen('edit')}>
            {stored === null ? 'Add key' : 'Change'}
          </button>
        )}
        {stored !== null && (
          <>
            <button
              class="b"
              type="button"
              disabled={switching.isPending}
              onClick={() => switching.mutate(!stored.disabled)}
            >
              {stored.disabled ? 'Serve again' : 'Stop serving'}
            </button>
            <button class="b danger" type="button" onClick={() => setOpen('remove')}>
              Remove
            </button>
          </>
        )}
      </div>
      {testing.isError && <FailureNote error={testing.error} onRetry={() => testing.mutate()} />}
      {testing.data !== undefined && <TestResult test={testing.data.data} />}
      {switching.isError && <FailureNote error={switching.error} />}
      {open === 'edit' && <ServeProvider provider={{ slug, name, stored }} onClose={() => setOpen(null)} />}
      {open === 'remove' && (
        <Confirm
          title={`Remove ${name}`}
          action="Remove provider"
          keep="Keep it"
          onConfirm={remove}
          onClose={() => setOpen(null)}
        >
          <p>
            Its key is wiped, and its {counted(provider.models, 'model')} can no longer be asked through it.
            Requests in flight finish.
          </p>
        </Confirm>
      )}
    </>
  );
}

function sentenceOf({ set_by: setBy, stored, credential }: ProviderStateObject): string {
  if (setBy === 'file' || setBy === 'environment') {
    const waits = stored === null ? '' : ' What was added here waits until it no longer does.';
    return `Set by ${SETTERS[setBy]}, which wins.${waits}`;
  }
  if (stored === null) {
    return credential.source === 'missing' ? 'It has no key.' : 'A model of the configuration names it.';
  }
  if (stored.disabled) return 'Added here, and switched off: it serves nothing.';
  const where =
    stored.workspace_ids === null ? 'all workspaces' : counted(stored.workspace_ids.length, 'workspace');
  return `Added here. Serves ${where}${stored.label === null ? '' : ` with the key ${stored.label}`}.`;
}
