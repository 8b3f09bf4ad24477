import type { ComponentChildren } from 'preact';
import { ApiError, Unreachable } from '../api/request.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';

interface FailureProps {
  readonly error: unknown;
  /** A request to a model failed, not a question of a view: the gateway's words say all that is known. */
  readonly isOfModel?: boolean;
  readonly onRetry?: (() => void) | undefined;
  /** What else to do about it. */
  readonly children?: ComponentChildren;
}

/** Says what failed, what still works, and what to do. */
export function FailureNote({ error, isOfModel = false, onRetry, children }: FailureProps) {
  const { title, advice } = describe(error, isOfModel ? {} : ADVICE_BY_STATUS);
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div class="grow">
        <b>{title}</b>
        {advice !== '' && <p>{advice}</p>}
        {children}
        {requestId !== null && (
          <p class="t3">
            Request <code>{requestId}</code> <CopyButton text={requestId} what="the request id" />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <button class="b" type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

function describe(
  error: unknown,
  adviceByStatus: Readonly<Record<number, string>>,
): { readonly title: string; readonly advice: string } {
  if (error instanceof Unreachable) {
    return {
      title: error.message,
      advice: 'It may be restarting. Nothing you typed is lost; the view asks again.',
    };
  }
  if (error instanceof ApiError) {
    // The route of keys is for programs; readers get a link.
    const title = error.message.replace(KEYS_ROUTE, '');
    return { title, advice: adviceByStatus[error.status] ?? '' };
  }
  return { title: 'This view failed.', advice: error instanceof Error ? error.message : '' };
}

/** In the message for a used-up key. */
const KEYS_ROUTE = ' Manage it using /v1/keys.';

/** The hash of the key whose limit refused a request; null = another cause. */
export function usedUpKeyOf(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.status !== 402) return null;
  const { key_hash: hash } = error.metadata;
  return typeof hash === 'string' ? hash : null;
}

const ADVICE_BY_STATUS: Readonly<Record<number, string>> = {
  404: 'It may have been deleted since.',
  409: 'It was changed elsewhere. Load it again.',
  429: 'The gateway limits how often this may be asked. Wait a moment.',
  500: 'The gateway wrote the cause to its log, under the request id.',
  503: 'Requests with keys may still be served. The view asks again.',
};

/** A list without rows: what the thing is for, and one action. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Rows that are on their way, as high as the final ones. */
export function SkeletonRows({ count = 8 }: { readonly count?: number }) {
  return (
    <div class="sk-rows" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <div class="sk-row" key={index}>
          <div class={`sk w-${[40, 60, 80, 20][index % 4]}`} />
        </div>
      ))}
    </div>
  );
}
