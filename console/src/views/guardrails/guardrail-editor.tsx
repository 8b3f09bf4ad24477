import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link } from '../../address/link.tsx';
import type { GuardrailObject } from '../../api/contract.ts';
import { ApiError, ask } from '../../api/request.ts';
import { showFirstProblem } from '../../parts/form/first-problem.ts';
import { refusedMembersOf } from '../../parts/form/issues.ts';
import { Icon } from '../../parts/icon.tsx';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { Assignments } from './assignments.tsx';
import { ContentRules } from './content-rules.tsx';
import { DataRules, ServiceRules } from './data-rules.tsx';
import {
  changesOf,
  type Draft,
  type DraftProblems,
  draftOf,
  filtersOf,
  hasChangedFilters,
  problemsOf,
  refusedFields,
  withoutChanged,
} from './draft.ts';
import { BudgetRules, NameRules, RouteRules } from './other-rules.tsx';
import { TryIt } from './try-it.tsx';

/** Reads a guardrail, then edits it. That of the account, or of a workspace, need not be there yet. */
export function GuardrailEditor({ id }: { readonly id: string }) {
  const stored = useQuery({
    queryKey: ['guardrails', id],
    queryFn: () => ask<{ data: GuardrailObject }>(`/guardrails/${encodeURIComponent(id)}`),
  });
  const isAbsent = id === 'default' && stored.error instanceof ApiError && stored.error.status === 404;
  if (stored.data === undefined && !isAbsent) {
    return (
      <>
        <TopBar title="Guardrail" />
        <main id="main">
          {stored.isError ? (
            <div class="pad">
              <FailureNote error={stored.error} onRetry={() => stored.refetch()} />
            </div>
          ) : (
            <SkeletonRows />
          )}
        </main>
      </>
    );
  }
  return <Editor id={id} stored={stored.data?.data} />;
}

interface EditorProps {
  readonly id: string;
  readonly stored: GuardrailObject | undefined;
}

function Editor({ id, stored }: EditorProps) {
  const queries = useQueryClient();
  const form = useRef<HTMLDivElement>(null);
  const base = useMemo(() => draftOf(stored), [stored]);
  const [draft, setDraft] = useState<Draft>(base);
  const [isChecked, setChecked] = useState(false);
  /** What the gateway refused, at its fields until they change; null = the refusal belongs to no field. */
  const [refused, setRefused] = useState<DraftProblems | null>(null);
  useEffect(() => setDraft(base), [base]);
  // A service is tried once its field is left: no text goes to an address that is half typed.
  const [triedUrl, setTriedUrl] = useState(base.serviceUrl);
  const changes = changesOf(draft, base);
  const changed = Object.keys(changes).length;
  const problems = problemsOf(draft);
  const isOfFile = stored?.managed_by === 'file';
  const saving = useMutation({
    mutationFn: () =>
      ask<{ data: GuardrailObject }>(`/guardrails/${encodeURIComponent(id)}`, {
        method: 'PATCH',
        body: changes,
      }),
    onSuccess: async (reply) => {
      queries.setQueryData(['guardrails', id], reply);
      toast(`${reply.data.name} was saved. It holds from the next request on.`);
      await queries.invalidateQueries({ queryKey: ['guardrails', 'list'] });
    },
    onError: (error) => {
      setRefused(refusedFields(refusedMembersOf(error), draft) ?? null);
      showProblem();
    },
  });
  const showProblem = () => requestAnimationFrame(() => showFirstProblem(form.current));
  const save = (): void => {
    setChecked(true);
    if (Object.keys(problems).length > 0) {
      showProblem();
      return;
    }
    if (changed > 0 && !saving.isPending && !isOfFile) saving.mutate();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      save();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  const change = (part: Partial<Draft>): void => {
    setDraft((before) => ({ ...before, ...part }));
    setRefused((before) => before && withoutChanged(before, draft, part));
  };
  const rules = { draft, change, problems: { ...refused, ...(isChecked && problems) }, isReadOnly: isOfFile };
  return (
    <>
      <header class="top">
        <h1>
          <span class="crumb">
            <Link href="/guardrails">Guardrails</Link> /{' '}
          </span>
          {stored?.name ?? 'Guardrail of the account'}
        </h1>
        {changed > 0 && (
          <span class="tag warn">
            {changed} unsaved {changed === 1 ? 'change' : 'changes'}
          </span>
        )}
        <span class="push" />
        <button class="b quiet wide" type="button" disabled={changed === 0} onClick={() => setDraft(base)}>
          Discard
        </button>
        <button class="b pri" type="button" disabled={isOfFile} onClick={save}>
          Save<kbd class="wide">⌘S</kbd>
        </button>
      </header>
      <main id="main">
        <div class={stored === undefined ? undefined : 'ed'}>
          <div class="ed-l" ref={form} onFocusOut={() => setTriedUrl(draft.serviceUrl)}>
            {isOfFile && (
              <div class="pad">
                <div class="note">
                  <Icon name="files" size={14} />
                  <span>
                    <b>The configuration file declares it.</b> Change it there; the gateway reads the file
                    again by itself.
                  </span>
                </div>
              </div>
            )}
            {stored === undefined && (
              <div class="pad">
                <div class="note">
                  <Icon name="guardrails" size={14} />
                  <span>
                    <b>The account has no guardrail yet.</b> Saving makes it; it then holds for every key of
                    the account.
                  </span>
                </div>
              </div>
            )}
            {saving.isError && refused === null && (
              <div class="pad">
                <FailureNote error={saving.error} />
              </div>
            )}
            <NameRules {...rules} />
            {stored !== undefined && <Assignments guardrail={stored} isReadOnly={isOfFile} />}
            <ContentRules {...rules} />
            <ServiceRules {...rules} />
            <RouteRules {...rules} />
            <DataRules {...rules} />
            <BudgetRules {...rules} />
          </div>
          {stored !== undefined && (
            <TryIt
              id={id}
              filters={filtersOf({ ...draft, serviceUrl: triedUrl })}
              isChanged={hasChangedFilters(changes)}
            />
          )}
        </div>
      </main>
    </>
  );
}
