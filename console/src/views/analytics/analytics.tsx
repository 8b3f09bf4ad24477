import { useQuery } from '@tanstack/preact-query';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { go, useAddress } from '../../address/address.ts';
import type { AnalyticsAnswer, AnalyticsMeta, ClassifierObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { readOfWorkspace } from '../../api/read-pages.ts';
import { ask } from '../../api/request.ts';
import { copyText } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { knownMomentsOf, type Moments, type Range } from '../../parts/range/range.ts';
import { RangePicker, useRange } from '../../parts/range/range-picker.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { csvOf } from './analytics-answer.ts';
import { AnalyticsChart } from './analytics-chart.tsx';
import { bodyOf, type Question, questionOf, vocabularyOf, withQuestion } from './analytics-question.ts';
import { AnalyticsTable } from './analytics-table.tsx';
import { QuestionCode } from './question-code.tsx';
import { QuestionEditor } from './question-editor.tsx';

const LAST_7_DAYS: Range = { from: '-7d', to: 'now' };

/** What the gateway answered, and what it was asked. */
interface Answered {
  readonly question: Question;
  readonly moments: Moments;
  readonly answer: AnalyticsAnswer;
}

/** Any question to `POST /analytics/query`, as chart, table, JSON and command. It lives in the address. */
export function AnalyticsView() {
  const meta = useQuery({
    queryKey: ['analytics-meta'],
    queryFn: () => ask<{ data: AnalyticsMeta }>('/analytics/meta').then(({ data }) => data),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const classifiers = useQuery({
    queryKey: ['classifiers', null],
    meta: partMeta('The list of classifiers'),
    queryFn: () => readOfWorkspace<ClassifierObject>('/classifiers', null),
  });
  if (meta.data !== undefined && !classifiers.isPending) {
    const active = (classifiers.data ?? []).filter(({ is_active: isActive }) => isActive);
    return <Explorer names={meta.data} classifiers={active} />;
  }
  return (
    <>
      <TopBar title="Analytics" />
      <main id="main">
        {meta.isError && (
          <div class="pad">
            <FailureNote error={meta.error} onRetry={() => meta.refetch()} />
          </div>
        )}
        {meta.isPending && <SkeletonRows />}
      </main>
    </>
  );
}

interface ExplorerProps {
  readonly names: AnalyticsMeta;
  /** Those whose tags can be asked for. */
  readonly classifiers: readonly ClassifierObject[];
}

function Explorer({ names, classifiers }: ExplorerProps) {
  const { path, query } = useAddress();
  const classifierId = query.get('classifier');
  const meta = vocabularyOf(
    names,
    classifiers.find(({ id }) => id === classifierId),
  );
  const range = useRange(LAST_7_DAYS);
  const question = questionOf(query, meta);
  const asked = withQuestion(new URLSearchParams(), question).toString();
  const answered = useQuery<Answered>({
    queryKey: ['analytics', range.from, range.to, asked, meta.classifier?.id],
    queryFn: async ({ signal }) => {
      const moments = knownMomentsOf(range, Date.now());
      const body = bodyOf(question, moments, meta);
      const { data } = await ask<{ data: AnalyticsAnswer }>('/analytics/query', {
        method: 'POST',
        body,
        signal,
      });
      return { question, moments, answer: data };
    },
    placeholderData: (previous) => previous,
  });
  const change = (changed: Partial<Question>): void => {
    show(withQuestion(query, { ...question, ...changed }));
  };
  const show = (next: URLSearchParams): void => {
    const search = next.toString();
    go(search === '' ? path : `${path}?${search}`);
  };
  const choose = (id: string | null): void => {
    const next = new URLSearchParams(query);
    if (id === null) next.delete('classifier');
    else next.set('classifier', id);
    show(
      withQuestion(
        next,
        questionOf(
          next,
          vocabularyOf(
            names,
            classifiers.find((each) => each.id === id),
          ),
        ),
      ),
    );
  };
  const { refetch } = answered;
  useRunShortcut(refetch);
  const { data } = answered;
  return (
    <>
      <TopBar title="Analytics">
        <button
          class="b"
          type="button"
          disabled={(data?.answer.data.length ?? 0) === 0}
          onClick={() => download(csvOf(data?.answer.data ?? []), 'analytics.csv')}
        >
          <Icon name="download" size={14} />
          CSV
        </button>
        <button class="b wide" type="button" onClick={copyLink}>
          <Icon name="link" size={14} />
          Copy link
        </button>
        <button class="b pri" type="button" onClick={() => refetch()}>
          Run
        </button>
      </TopBar>
      <main id="main" aria-busy={answered.isFetching}>
        <QuestionEditor
          meta={meta}
          classifiers={classifiers}
          question={question}
          onChange={change}
          onClassifier={choose}
        >
          <RangePicker fallback={LAST_7_DAYS} />
        </QuestionEditor>
        <div class="an">
          <div>
            {answered.isError && (
              <div class="pad">
                <FailureNote error={answered.error} onRetry={() => refetch()} />
              </div>
            )}
            {answered.isPending && <SkeletonRows />}
            {data !== undefined && !answered.isError && <Answer meta={meta} answered={data} />}
          </div>
          <QuestionCode
            meta={meta}
            question={question}
            range={range}
            answer={answered.isError ? undefined : data?.answer}
          />
        </div>
      </main>
    </>
  );
}

function Answer({ meta, answered }: { readonly meta: AnalyticsMeta; readonly answered: Answered }) {
  const { question, moments, answer } = answered;
  const [marked, setMarked] = useState<number | null>(null);
  const metrics = useMemo(
    () => question.metrics.flatMap((name) => meta.metrics.find((each) => each.name === name) ?? []),
    [question, meta],
  );
  if (answer.data.length === 0) {
    return (
      <Empty title="No usage matches this question">
        <p>Choose a longer range, or remove a filter above.</p>
      </Empty>
    );
  }
  const chart = { rows: answer.data, question, meta, moments, marked, onMark: setMarked };
  return (
    <>
      {question.granularity !== null && (
        <section class="cell" aria-label="Chart">
          {metrics.slice(0, 2).map((metric, place) => (
            <AnalyticsChart key={metric.name} {...chart} metric={metric} isLow={place > 0} />
          ))}
        </section>
      )}
      <AnalyticsTable rows={answer.data} question={question} meta={meta} metrics={metrics} />
    </>
  );
}

/** Ctrl or ⌘ and ↵ ask again. */
function useRunShortcut(run: () => unknown): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) run();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [run]);
}

async function copyLink(): Promise<void> {
  await copyText(window.location.href);
  toast('The link was copied.');
}

function download(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
