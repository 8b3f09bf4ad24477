import type { ComponentChildren } from 'preact';
import { Link } from '../../address/link.tsx';
import { exactMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import { EntryView } from './entry.tsx';
import { lastRun, type Run } from './pane-state.ts';
import type { PaneControl } from './use-pane.ts';

interface Props {
  /** A or B; null = there is one pane. */
  readonly letter: string | null;
  readonly pane: PaneControl;
  readonly picker: ComponentChildren;
  readonly onRetry: () => void;
  readonly onResults: (texts: readonly string[]) => void;
}

/** One model: its conversation, and the figures of its last answer. */
export function Pane({ letter, pane, picker, onRetry, onResults }: Props) {
  const { entries, isRunning, stop } = pane;
  const run = lastRun(entries);
  const name = letter === null ? 'Conversation' : `Conversation of ${letter}`;
  return (
    <section class="pane" aria-label={name}>
      <header class="pane-h">
        {letter !== null && <span class="tag line">{letter}</span>}
        {picker}
        <span class="sm t3 cut">{run?.answer.provider}</span>
        <span class="push r tight">
          {isRunning ? (
            <button class="b" type="button" onClick={stop}>
              Stop<kbd>Esc</kbd>
            </button>
          ) : (
            typeof run?.generationId === 'string' && (
              <Link class="sm nw" href={`/log#${run.generationId}`}>
                In the log
              </Link>
            )
          )}
        </span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <div class="pane-b" role="log" aria-label={name} aria-busy={isRunning} tabIndex={0}>
        {entries.length === 0 && <p class="t3">The answer appears here, as it is written.</p>}
        {entries.map((entry, index) => (
          <EntryView
            key={index}
            entry={entry}
            isLast={index === entries.length - 1}
            onRetry={onRetry}
            onResults={onResults}
          />
        ))}
      </div>
      <footer class="pane-f">{run === undefined ? <NoFigures /> : <Figures run={run} />}</footer>
    </section>
  );
}

function NoFigures() {
  return <span class="sm t3">Time, tokens and cost of the last answer stand here.</span>;
}

function Figures({ run: { answer, firstTokenMs, totalMs, state } }: { readonly run: Run }) {
  const { usage } = answer;
  const writingMs = totalMs - (firstTokenMs ?? totalMs);
  return (
    <dl class="pf">
      <Figure name="First token">{firstTokenMs === null ? '–' : duration(firstTokenMs)}</Figure>
      <Figure name="Total">{duration(totalMs)}</Figure>
      <Figure name="Speed">
        {usage === null || writingMs <= 0
          ? '–'
          : `${Math.round(usage.completionTokens / (writingMs / 1_000))} tok/s`}
      </Figure>
      <Figure name="Tokens">
        {usage === null ? '–' : `${count(usage.promptTokens)} → ${count(usage.completionTokens)}`}
      </Figure>
      <Figure name="Cost">
        {usage === null || usage.costUsd === null ? (
          <span class="dim">{state === 'stopped' ? 'in the log' : '–'}</span>
        ) : (
          <Cost usd={usage.costUsd} />
        )}
      </Figure>
    </dl>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Cost({ usd }: { readonly usd: number }) {
  return <MoneyText money={exactMoney(usd)} />;
}
