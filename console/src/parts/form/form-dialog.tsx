import type { ComponentChildren } from 'preact';
import type { ApiCall } from '../../api/curl.ts';
import { ApiCallNote } from '../api-call.tsx';
import { Dialog } from '../dialog.tsx';
import { FailureNote } from '../states.tsx';
import type { Form } from './use-form.ts';

interface Props {
  readonly title: string;
  /** Verb and noun, such as "Create key". */
  readonly action: string;
  readonly form: Pick<Form<unknown>, 'element' | 'submit' | 'error' | 'isBusy'>;
  readonly children: ComponentChildren;
  /** What saving does, one sentence each; rewritten as the reader types. */
  readonly means?: readonly ComponentChildren[];
  /** The request that saving sends; null = nothing would change. */
  readonly call: ApiCall | null;
  /** Shows the values alone: nothing can be saved. */
  readonly isReadOnly?: boolean;
  readonly onClose: () => void;
}

/** A form with what it means beside it, and the request at its foot. */
export function FormDialog({
  title,
  action,
  form,
  children,
  means,
  call,
  isReadOnly = false,
  onClose,
}: Props) {
  return (
    <Dialog title={title} onClose={onClose} class={means === undefined ? 'narrow-d' : 'wide-d'}>
      <form ref={form.element} onSubmit={form.submit} noValidate>
        <div class={means === undefined ? 'dlg-b' : 'two'}>
          <div class={means === undefined ? undefined : 'two-l'}>
            {children}
            {form.error !== null && <FailureNote error={form.error} onRetry={form.submit} />}
          </div>
          {means !== undefined && (
            <section class="two-r" aria-labelledby="what-this-means">
              <h3 id="what-this-means">What this means</h3>
              <ul class="means" aria-live="polite">
                {means.map((sentence, index) => (
                  <li key={index}>{sentence}</li>
                ))}
              </ul>
            </section>
          )}
        </div>
        <footer class="dlg-f">
          {call !== null && !isReadOnly && <ApiCallNote call={call} />}
          <span class="push" />
          <button class="b lg" type="button" onClick={onClose}>
            {isReadOnly ? 'Close' : 'Cancel'}
          </button>
          {!isReadOnly && (
            <button class="b pri lg" type="submit" disabled={form.isBusy}>
              {action}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}
