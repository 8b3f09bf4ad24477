import { useQuery } from '@tanstack/preact-query';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../../address/address.ts';
import { Link } from '../../../address/link.tsx';
import type { GenerationRecord } from '../../../api/contract.ts';
import { ApiError, ask } from '../../../api/request.ts';
import { exactMoney } from '../../../format/money.ts';
import { count, percent } from '../../../format/numbers.ts';
import { clockTime, date, duration, zoneName } from '../../../format/times.ts';
import { CopyButton, copyText } from '../../../parts/copy-button.tsx';
import { Icon, type IconName } from '../../../parts/icon.tsx';
import { useShortcut } from '../../../parts/keyboard.ts';
import { MoneyText } from '../../../parts/money-text.tsx';
import { RouteRail } from '../../../parts/route/route-rail.tsx';
import { stopsOfRecord } from '../../../parts/route/route-stops.ts';
import { FailureNote, SkeletonRows } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toast.tsx';
import { Waterfall } from '../../../parts/waterfall/waterfall.tsx';
import { type WaterfallPlan, waterfallOf } from '../../../parts/waterfall/waterfall-rows.ts';
import { errorText, STATES } from '../log-words.ts';
import type { ShownGeneration } from '../shown-generation.ts';
import { CallerLine } from './caller-line.tsx';
import { Content } from './content.tsx';
import { Cost } from './cost.tsx';
import { GuardrailReceipt, guardrailEntries, guardrailFindings } from './guardrail-receipt.tsx';
import { routingOf } from './routing-of.ts';
import { RowAlone } from './row-alone.tsx';
import { Running } from './running.tsx';
import { Translation } from './translation.tsx';
import { whereTimeWent } from './where-time-went.ts';

interface Props {
  readonly id: string;
  /** What is known of it while it runs; undefined = it has ended, or is not in the list. */
  readonly running: ShownGeneration | undefined;
  /** Its row in the list; undefined = it is not there. */
  readonly row: ShownGeneration | undefined;
  /** Its neighbours in the list; undefined = there is none. */
  readonly previousId: string | undefined;
  readonly nextId: string | undefined;
  readonly onStep: (id: string) => void;
}

/** One generation, beside the list. */
export function GenerationDrawer({ id, running, row, previousId, nextId, onStep }: Props) {
  const address = useAddress();
  const element = useRef<HTMLElement>(null);
  const record = useQuery({
    queryKey: ['generation', id],
    queryFn: async () => (await ask<{ data: GenerationRecord }>('/generation', { query: { id } })).data,
    // There is no record before the end.
    enabled: running === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const close = useCallback(() => go(addressWith({ ...address, fragment: '' }, {})), [address]);
  const copyLink = useCallback(async () => {
    await copyText(window.location.href);
    toast('The link is copied.');
  }, []);
  useShortcut('Escape', close);
  useShortcut('y', copyLink);
  useEffect(() => element.current?.scrollTo({ top: 0 }), [id]);
  const isUnknown = record.error instanceof ApiError && record.error.status === 404;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <aside class="drawer" ref={element} tabIndex={0} aria-label={`Generation ${id}`}>
      <header class="dw-h">
        <div class="r">
          {running !== undefined && <span class={`dot ${STATES.running.dot}`} />}
          {record.data !== undefined && <span class={`dot ${STATES[stateOf(record.data)].dot}`} />}
          <b class="mono cut">{id}</b>
          <CopyButton text={id} what="the generation id" />
          <span class="push" />
          <StepButton title="Previous" shortcut="K" icon="up" id={previousId} onStep={onStep} />
          <StepButton title="Next" shortcut="J" icon="down" id={nextId} onStep={onStep} />
          <button
            class="b quiet ico"
            type="button"
            aria-label="Copy the link"
            title="Copy the link (Y)"
            onClick={copyLink}
          >
            <Icon name="link" size={14} />
          </button>
          <button class="b quiet ico" type="button" aria-label="Close" title="Close (Esc)" onClick={close}>
            <Icon name="cross" size={14} />
          </button>
        </div>
        <CallerLine record={record.data} row={row} />
        {record.data !== undefined && <Summary record={record.data} />}
        {record.data !== undefined && <Trace record={record.data} />}
        {record.data !== undefined && <Tabs record={record.data} />}
      </header>
      {running !== undefined && record.data === undefined && <Running row={running} />}
      {running === undefined && record.isPending && <SkeletonRows />}
      {isUnknown && row !== undefined && <RowAlone row={row} />}
      {isUnknown && row === undefined && (
        <div class="dw-s">
          <div class="note">
            <Icon name="warning" />
            <span>
              There is no record of this generation: it is still running, it was imported, its time of
              retention is over, or it belongs to another account.
            </span>
          </div>
        </div>
      )}
      {record.isError && !isUnknown && (
        <div class="dw-s">
          <FailureNote error={record.error} onRetry={() => void record.refetch()} />
        </div>
      )}
      {record.data !== undefined && record.data.refused_requests !== null && <Refusal record={record.data} />}
      {record.data !== undefined && <Sections record={record.data} />}
    </aside>
  );
}

interface StepProps {
  readonly title: string;
  readonly shortcut: string;
  readonly icon: IconName;
  readonly id: string | undefined;
  readonly onStep: (id: string) => void;
}

function StepButton({ title, shortcut, icon, id, onStep }: StepProps) {
  return (
    <button
      class="b quiet ico"
      type="button"
      aria-label={`${title} generation`}
      title={`${title} (${shortcut})`}
      disabled={id === undefined}
      onClick={() => id !== undefined && onStep(id)}
    >
      <Icon name={icon} size={14} />
    </button>
  );
}

function stateOf(record: GenerationRecord): keyof typeof STATES {
  if (record.refused_requests !== null) return 'refused';
  if (record.cancelled) return 'cancelled';
  if (record.finish_reason === 'error') return 'failed';
  const calls = (record.provider_responses ?? []) as readonly { status?: number }[];
  return calls.some(({ status = 0 }) => status >= 400) ? 'fallback' : 'answered';
}

function Summary({ record }: { readonly record: GenerationRecord }) {
  const atMs = Date.parse(record.created_at);
  const parts = [
    `${date(atMs)} ${clockTime(atMs)} ${zoneName(atMs)}`,
    record.model,
    record.format ?? record.api_type,
    record.streamed ? 'streamed' : 'not streamed',
  ];
  return <p class="t2 sm">{parts.join(' · ')}</p>;
}

/** The trace that it belongs to, its other generations, and where to look at it if the operator has said so. */
function Trace({ record: { trace_id: id, trace_url: url } }: { readonly record: GenerationRecord }) {
  const address = useAddress();
  return (
    <p class="t2 sm r">
      Trace
      <span class="mono cut">{id}</span>
      <CopyButton text={id} what="the trace id" />
      <Link href={addressWith(address, { trace_id: id })}>All of it</Link>
      {url !== null && (
        <a href={url} target="_blank" rel="noreferrer">
          Open
        </a>
      )}
    </p>
  );
}

/** Why a request was refused, in the words that its caller got. */
function Refusal({ record: { error, refused_requests: requests } }: { readonly record: GenerationRecord }) {
  if (error === null) return null;
  return (
    <section class="dw-s" aria-label="Why it was refused">
      <div class="note">
        <Icon name="warning" />
        <span>
          <b>{errorText(error.status, error.type)}.</b> {error.message}{' '}
          {requests !== null && requests > 1 && (
            <>
              This row stands for {count(requests)} refused requests of the key: in a flood of them only
              samples are kept.
            </>
          )}
        </span>
      </div>
    </section>
  );
}

/** The sections of the page, in order: anchors, not panels. */
const SECTIONS = ['Waterfall', 'Routing', 'Translation', 'Guardrails', 'Cost', 'Content', 'JSON'] as const;

const idOf = (name: string) => `generation-${name.toLowerCase()}`;

function Tabs({ record }: { readonly record: GenerationRecord }) {
  const routing = routingOf(record);
  const counts: Readonly<Record<string, number>> = {
    Translation: routing?.translation?.length ?? 0,
    Guardrails: guardrailEntries(routing).length,
  };
  return (
    <nav class="tabs" aria-label="Sections">
      {SECTIONS.map((name) => (
        <button
          key={name}
          type="button"
          class="tab"
          onClick={() => document.getElementById(idOf(name))?.scrollIntoView({ block: 'start' })}
        >
          {name}
          {(counts[name] ?? 0) > 0 && <span class="n"> {counts[name]}</span>}
        </button>
      ))}
    </nav>
  );
}

function Sections({ record }: { readonly record: GenerationRecord }) {
  const routing = routingOf(record);
  const plan = waterfallOf(record);
  return (
    <>
      <section class="dw-s" id={idOf('Waterfall')}>
        <Facts record={record} />
      </section>
      <section class="dw-s" aria-label="Waterfall">
        {plan.rows.length === 0 ? (
          <p class="t3">{notCalledSentence(record)}</p>
        ) : (
          <>
            <TimeWent record={record} plan={plan} />
            <Waterfall plan={plan} />
          </>
        )}
      </section>
      <section class="dw-s" id={idOf('Routing')}>
        <div class="hd">
          <h2>Why this endpoint</h2>
        </div>
        {routing === null ? (
          <p class="t3">The record has no routing decision.</p>
        ) : (
          <RouteRail
            stops={stopsOfRecord(routing, record.provider_responses)}
            label="The route of this generation"
          />
        )}
      </section>
      <Translation
        id={idOf('Translation')}
        entries={routing?.translation ?? []}
        wasCalled={(record.provider_responses ?? []).length > 0}
        wasFound={guardrailFindings(routing).length > 0}
      />
      <GuardrailReceipt id={idOf('Guardrails')} entries={guardrailEntries(routing)} />
      <Cost id={idOf('Cost')} record={record} />
      <Content key={record.id} id={idOf('Content')} generationId={record.id} />
      <section class="dw-s" id={idOf('JSON')}>
        <div class="hd">
          <h2>JSON</h2>
          <CopyButton text={JSON.stringify(record, null, 2)} what="the record" />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
        <pre class="code" tabIndex={0}>
          {JSON.stringify(record, null, 2)}
        </pre>
      </section>
    </>
  );
}

/** The waterfall in words. */
function TimeWent({ record, plan }: { readonly record: GenerationRecord; readonly plan: WaterfallPlan }) {
  const went = whereTimeWent(record, plan);
  if (went === null) return null;
  return (
    <div class="went">
      <h2>Where the time went</h2>
      <p>{went.first}</p>
      {went.others.length > 0 && <p class="t2 sm">Besides: {went.others.join('; ')}.</p>}
    </div>
  );
}

function notCalledSentence({ response_cache_source_id: source, error }: GenerationRecord): string {
  if (source !== null) return 'No model was called: the answer came from the response cache.';
  return error === null
    ? 'No call of a model is on record.'
    : `No model was called: the request was refused with ${errorText(error.status, error.type)}.`;
}

function Facts({ record }: { readonly record: GenerationRecord }) {
  // Both moments are whole milliseconds: their difference may be one less than what was measured.
  const totalMs = Math.max(Date.parse(record.ended_at) - Date.parse(record.created_at), record.latency ?? 0);
  const prompt = record.tokens_prompt ?? 0;
  const completion = record.tokens_completion ?? 0;
  const cached = record.native_tokens_cached ?? 0;
  const speed =
    record.generation_time === null || record.generation_time === 0
      ? null
      : (completion * 1_000) / record.generation_time;
  return (
    <dl class="facts">
      <div>
        <dt>Total</dt>
        <dd>{duration(totalMs)}</dd>
      </div>
      <div>
        <dt>First token</dt>
        <dd>{record.latency === null ? '–' : duration(record.latency)}</dd>
      </div>
      <div>
        <dt>Speed</dt>
        <dd>{speed === null ? '–' : `${Math.round(speed)} tok/s`}</dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>
          {count(prompt)} → {count(completion)}
          {cached > 0 && prompt > 0 && <small>{percent(cached / prompt)} of the prompt cached</small>}
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          <MoneyText money={exactMoney(record.total_cost)} />
          <small>
            {record.error === null ? 'settled, exact' : errorText(record.error.status, record.error.type)}
          </small>
        </dd>
      </div>
    </dl>
  );
}
