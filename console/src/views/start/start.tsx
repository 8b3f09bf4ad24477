import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { go } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { curlOf } from '../../api/curl.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { servedAt } from '../../api/served-at.ts';
import { count } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Icon } from '../../parts/icon.tsx';
import { FailureNote } from '../../parts/states.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { usePayer } from '../keys/use-payer.ts';
import { userTurn } from '../playground/conversation.ts';
import { formatNamed } from '../playground/formats.ts';
import { KeyPicker } from '../playground/pickers.tsx';
import { type Progress, runAnswer } from '../playground/run-answer.ts';
import type { ServedProvider } from '../providers/provider-form.ts';
import { ServeProvider } from '../providers/serve-provider.tsx';
import { CLIENTS } from './clients.ts';
import { PROVIDERS, type ProviderLine, useProviderLines } from './provider-lines.ts';
import { skipStart, useStartState } from './start-state.ts';
import { Yard } from './yard.tsx';

const MODEL = 'simulator/standard';

/** How often the page looks for the first request of a client, milliseconds. */
const EVERY_MS = 5_000;

/** Three steps to the first answer. The simulator answers at once; a provider and a client can come later. */
export function Start() {
  const state = useStartState(useCurrentKey(), EVERY_MS);
  const lines = useProviderLines();
  const skip = (): void => {
    skipStart();
    go('/');
  };
  const { isAsked = false, hasProvider = false, hasClient = false } = state ?? {};
  return (
    <>
      <TopBar title="Welcome">
        <button class="b quiet" type="button" onClick={skip}>
          Skip, show the overview
        </button>
      </TopBar>
      <main id="main">
        <div class="fr-g">
          <div class="fr">
            <header class="fr-h">
              <h2>Three steps to your first answer</h2>
              <p>Signalbox is running. The simulator answers at once; add a provider when you are ready.</p>
            </header>
            <ol class="fsl">
              <Step number={1} title="Ask the simulator" isDone={isAsked} isNow={!isAsked}>
                <AskSimulator />
              </Step>
              <Step number={2} title="Add a provider" isDone={hasProvider} isNow={isAsked && !hasProvider}>
                <AddProvider lines={lines} />
              </Step>
              <Step
                number={3}
                title="Point your client here"
                isDone={hasClient}
                isNow={isAsked && hasProvider}
              >
                <PointClient hasClient={hasClient} />
              </Step>
            </ol>
          </div>
          <Yard lines={lines} hasClient={hasClient} />
        </div>
      </main>
    </>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly isNow: boolean;
  readonly children: ComponentChildren;
}

function Step({ number, title, isDone, isNow, children }: StepProps) {
  return (
    <li class={`fs ${isDone ? 'done' : isNow ? 'now' : 'next'}`}>
      <span class="fs-n">{isDone ? <Icon name="check" size={14} /> : number}</span>
      <div class="fs-b">
        <h2>
          {title}
          {isDone && <span class="vh"> done</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}

function AskSimulator() {
  const queries = useQueryClient();
  const { chosen: key, hasNone, choose } = usePayer(null, true);
  const [progress, setProgress] = useState<Progress | null>(null);
  const asking = useMutation({
    mutationFn: () =>
      runAnswer({
        format: formatNamed('responses'),
        body: formatNamed('responses').body({
          model: MODEL,
          system: '',
          turns: [userTurn('Hello')],
          tools: [],
          settings: {},
        }),
        actAs: key?.hash ?? null,
        signal: new AbortController().signal,
        onProgress: setProgress,
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['start'] }),
  });
  const request = { method: 'POST', path: '/responses', body: { model: MODEL, input: 'Hello' } } as const;
  return (
    <>
      <p>
        The built-in simulator asks no model and needs no key of a provider. <code>$SIGNALBOX_KEY</code> is
        the key that the first start printed. Lost it? <Link href="/keys">Create another</Link>.
      </p>
      <CodeBlock code={curlOf(request, servedAt().base, 'SIGNALBOX_KEY')} what="the command" />
      <div class="r wrap">
        <button
          class="b pri"
          type="button"
          disabled={key === undefined || asking.isPending}
          onClick={() => asking.mutate()}
        >
          <Icon name="play" size={14} />
          Send it from here
        </button>
        {hasNone ? (
          <span class="sm">
            There is no key that could pay. <Link href="/keys">Create a key</Link> first.
          </span>
        ) : (
          <KeyPicker chosen={key} onPick={choose} />
        )}
      </div>
      {asking.isError && <FailureNote error={asking.error} isOfModel onRetry={() => asking.mutate()} />}
      {progress !== null && <FirstAnswer progress={progress} />}
    </>
  );
}

function FirstAnswer({ progress: { answer, generationId, totalMs } }: { readonly progress: Progress }) {
  const { text, usage } = answer;
  return (
    <>
      <div class="code ansr" role="status">
        <pre>
          <span class="c">
            # {generationId}, {duration(totalMs)}
            {usage !== null && `, ${count(usage.promptTokens + usage.completionTokens)} tokens`}
            {'\n'}
          </span>
          {text}
        </pre>
      </div>
      <p class="sm">
        <Link href={`/log#${generationId}`}>See it in the log</Link>: how it was routed, what it cost, how
        long each part took. Or go on in the <Link href="/playground">playground</Link>.
      </p>
    </>
  );
}

function AddProvider({ lines }: { readonly lines: readonly ProviderLine[] }) {
  const queries = useQueryClient();
  const [serving, setServing] = useState<ServedProvider | null>(null);
  const on = lines.filter(({ models, slug }) => models > 0 && slug !== 'simulator');
  const lookAgain = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['start-lines'] });
    await queries.invalidateQueries({ queryKey: ['start'] });
  };
  return (
    <>
      <p>Paste a key, and its models can be asked at once. Nothing has to be started again.</p>
      <ul class="pvl">
        {PROVIDERS.map(({ slug, name, variable }) => {
          const models = lines.find((line) => line.slug === slug)?.models ?? 0;
          return (
            <li key={slug}>
              <span class={`dot ${models > 0 ? 'ok' : 'off'}`} />
              <b>{name}</b>
              <code class="cut">{variable}</code>
              <span class="push">
                {models > 0 ? (
                  <span class="tag ok">{count(models)} models</span>
                ) : (
                  <button
                    class="b"
                    type="button"
                    aria-label={`Add key of ${name}`}
                    onClick={() => setServing({ slug, name, stored: null })}
                  >
                    Add key
                  </button>
                )}
              </span>
            </li>
          );
        })}
        <li>
          <span class="dot off" />
          <b>Your own server</b>
          <code class="cut">Ollama, vLLM, llama.cpp</code>
          <span class="push">
            <button
              class="b"
              type="button"
              aria-label="Add server of your own"
              onClick={() => setServing({ slug: null, name: '', stored: null })}
            >
              Add server
            </button>
          </span>
        </li>
        <li class="more">
          <Link href="/providers">All other providers</Link>
        </li>
      </ul>
      <details>
        <summary class="sm">By the environment or the file instead</summary>
        <CodeBlock code={'ANTHROPIC_API_KEY=sk-ant-… npx signalbox serve'} what="the command" />
        <CodeBlock
          code={`# signalbox.yaml\nproviders:\n  - slug: simulator\n  - slug: anthropic\n    api_key: \${ANTHROPIC_API_KEY}`}
          what="the configuration"
        />
        <p class="sm t3">
          A variable is read at a start; the file is read again whenever you save it. Both win over what is
          added here.
        </p>
      </details>
      {serving !== null && <ServeProvider provider={serving} onClose={() => setServing(null)} />}
      {on.length > 0 && (
        <div class="note ok" role="status">
          <Icon name="check" size={14} />
          <span>
            {on.map(({ name }) => name).join(', ')} can be asked. Try a model in the{' '}
            <Link href="/playground">playground</Link>.
          </span>
        </div>
      )}
      <button class="b" type="button" onClick={() => void lookAgain()}>
        <Icon name="refresh" size={14} />
        Look again
      </button>
    </>
  );
}

function PointClient({ hasClient }: { readonly hasClient: boolean }) {
  const [title, setTitle] = useState(CLIENTS[0]?.title);
  const client = CLIENTS.find((each) => each.title === title);
  return (
    <>
      <fieldset class="seg wraps" aria-label="Client">
        {CLIENTS.map((each) => (
          <button
            key={each.title}
            type="button"
            aria-pressed={each.title === title}
            onClick={() => setTitle(each.title)}
          >
            {each.title}
          </button>
        ))}
      </fieldset>
      {client !== undefined && <CodeBlock code={client.code(servedAt(), MODEL)} what="the settings" />}
      <p class="sm t2 r" role="status">
        {hasClient ? (
          <>
            A client has asked. <Link href="/log">See its requests</Link>
          </>
        ) : (
          <>
            <span class="live-dot" />
            Waiting for its first request. This step ticks itself.
          </>
        )}
      </p>
    </>
  );
}
