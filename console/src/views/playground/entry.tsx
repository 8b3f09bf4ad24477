import { useState } from 'preact/hooks';
import { Link } from '../../address/link.tsx';
import { useCurrentKey } from '../../api/current-key.ts';
import { count } from '../../format/numbers.ts';
import { Icon } from '../../parts/icon.tsx';
import { FailureNote, usedUpKeyOf } from '../../parts/states.tsx';
import type { Answer } from './answer.ts';
import type { ToolCall, Turn } from './conversation.ts';
import type { Entry, Run } from './pane-state.ts';

interface Props {
  readonly entry: Entry;
  readonly isLast: boolean;
  readonly onRetry: () => void;
  /** Results of the calls, in their order. */
  readonly onResults: (texts: readonly string[]) => void;
}

/** A turn of the conversation, or an answer with what came with it. */
export function EntryView({ entry, isLast, onRetry, onResults }: Props) {
  if (entry.kind === 'turn') return <TurnView turn={entry.turn} />;
  const { run } = entry;
  const { calls } = run.answer;
  return (
    <div class="turn">
      <span class="who">Answer</span>
      <div class="ans">
        <Reasoning answer={run.answer} />
        {run.answer.text !== '' && (
          <p class="said">
            {run.answer.text}
            {run.state === 'running' && <span class="caret" />}
          </p>
        )}
        {run.answer.pictures.map((url, index) => (
          <img key={index} class="shot" src={url} alt="Made by the model" />
        ))}
        {calls.map((call) => (
          <Call key={call.id} call={call} />
        ))}
        <RunState run={run} onRetry={isLast ? onRetry : undefined} />
        {isLast && run.state === 'done' && calls.length > 0 && (
          <Results calls={calls} onResults={onResults} />
        )}
      </div>
    </div>
  );
}

function TurnView({ turn }: { readonly turn: Turn }) {
  return (
    <div class="turn">
      <span class="who">{{ user: 'User', assistant: 'Answer', tool: 'Result' }[turn.role]}</span>
      <div class="ans">
        {turn.text !== '' && <p class="said">{turn.text}</p>}
        {turn.role === 'user' &&
          turn.pictures.map(({ name, url }, index) => <img key={index} class="shot" src={url} alt={name} />)}
        {turn.role === 'assistant' && turn.calls.map((call) => <Call key={call.id} call={call} />)}
      </div>
    </div>
  );
}

function Reasoning({ answer: { reasoning, usage } }: { readonly answer: Answer }) {
  const tokens = usage?.reasoningTokens ?? 0;
  if (reasoning === '' && tokens === 0) return null;
  return (
    <details class="think">
      <summary>
        Reasoning <span class="dim">{tokens > 0 ? `${count(tokens)} tokens` : ''}</span>
      </summary>
      <p class="said">{reasoning === '' ? 'The model does not show it.' : reasoning}</p>
    </details>
  );
}

function Call({ call: { name, arguments: json } }: { readonly call: ToolCall }) {
  return (
    <div class="call">
      <div class="r">
        <span class="tag">tool call</span>
        <code class="cut">{name}</code>
      </div>
      <pre>{json}</pre>
    </div>
  );
}

function RunState({ run, onRetry }: { readonly run: Run; readonly onRetry: (() => void) | undefined }) {
  const { state, error, answer } = run;
  if (state === 'failed') return <Failed error={error} onRetry={onRetry} />;
  if (answer.failure !== null) {
    return (
      <div class="note bad" role="alert">
        <Icon name="warning" />
        <div class="grow">
          <b>The answer broke off.</b>
          <p>{answer.failure}</p>
        </div>
        {onRetry !== undefined && (
          <button class="b" type="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    );
  }
  if (state === 'stopped') return <p class="sm t3">Stopped. What was written until then is charged.</p>;
  return state === 'running' && answer.text === '' ? <p class="t3">Waiting for the first token…</p> : null;
}

function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: (() => void) | undefined }) {
  const { is_management_key: isManagement } = useCurrentKey();
  const hash = usedUpKeyOf(error);
  return (
    <FailureNote error={error} isOfModel onRetry={onRetry}>
      {isManagement && hash !== null && (
        <p>
          <Link href={`/keys#${hash}`}>Raise the limit of the key</Link>, or choose another one.
        </p>
      )}
    </FailureNote>
  );
}

/** The reader is the program that runs the tools. */
function Results({
  calls,
  onResults,
}: {
  readonly calls: readonly ToolCall[];
  readonly onResults: (texts: readonly string[]) => void;
}) {
  const [texts, setTexts] = useState<readonly string[]>(() => calls.map(() => ''));
  const submit = (event: Event): void => {
    event.preventDefault();
    onResults(texts);
  };
  return (
    <form class="stack" onSubmit={submit}>
      {calls.map(({ id, name }, index) => (
        <div class="f-row" key={id}>
          <label for={`result-${id}`}>Result of {name}</label>
          <input
            class="in-t mono"
            id={`result-${id}`}
            value={texts[index]}
            onInput={({ currentTarget }) => setTexts(texts.with(index, currentTarget.value))}
          />
        </div>
      ))}
      <div>
        <button class="b" type="submit">
          Send {calls.length === 1 ? 'result' : 'results'}
        </button>
      </div>
    </form>
  );
}
