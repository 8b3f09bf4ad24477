import { useState } from 'preact/hooks';
import type { AnalyticsAnswer } from '../../api/contract.ts';
import { curlOf } from '../../api/curl.ts';
import { servedAt } from '../../api/served-at.ts';
import { count } from '../../format/numbers.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { knownMomentsOf, type Range } from '../../parts/range/range.ts';
import { bodyOf, type Question, type Vocabulary } from './analytics-question.ts';

interface Props {
  readonly meta: Vocabulary;
  readonly question: Question;
  readonly range: Range;
  readonly answer: AnalyticsAnswer | undefined;
}

/** The question as a script would ask it, and what the gateway says about its answer. */
export function QuestionCode({ meta, question, range, answer }: Props) {
  const [kind, setKind] = useState<'JSON' | 'curl'>('JSON');
  // To the minute, so that the text does not change while it is read.
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
  const body = bodyOf(question, knownMomentsOf(range, nowMs), meta);
  const text =
    kind === 'JSON'
      ? JSON.stringify(body, null, 2)
      : curlOf({ method: 'POST', path: '/analytics/query', body }, servedAt().base);
  return (
    <aside class="an-r" aria-label="The question as code">
      <div class="tabs" role="tablist">
        {(['JSON', 'curl'] as const).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === kind}
            onClick={() => setKind(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="code wrap" role="tabpanel" aria-label={kind}>
        <pre>{text}</pre>
        <CopyButton text={text} what={kind === 'JSON' ? 'the question as JSON' : 'the command'} />
      </div>
      {answer !== undefined && (
        <dl class="kv">
          <dt>Answered in</dt>
          <dd>{answer.metadata.query_time_ms} ms</dd>
          <dt>Rows</dt>
          <dd>
            {count(answer.metadata.row_count)},{' '}
            {answer.metadata.truncated ? 'others cut off' : 'none cut off'}
          </dd>
        </dl>
      )}
      {answer?.warnings?.map((warning) => (
        <p class="note warn" key={warning}>
          {warning}
        </p>
      ))}
    </aside>
  );
}
