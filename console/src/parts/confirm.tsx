import { useMutation } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { FailureNote } from './states.tsx';

interface Props {
  readonly title: string;
  /** The effect, in numbers. */
  readonly children: ComponentChildren;
  /** Verb and noun, such as "Revoke key". */
  readonly action: string;
  /** What the safe button does, such as "Keep it". */
  readonly keep: string;
  /** A name that has to be typed first, for what cannot be taken back. */
  readonly typed?: string | undefined;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before an action, by its effect. */
export function Confirm({ title, children, action, keep, typed, onConfirm, onClose }: Props) {
  const [text, setText] = useState('');
  const confirming = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const isReady = (typed === undefined || text === typed) && !confirming.isPending;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      class="confirm"
      foot={
        <>
          <button class="b lg" type="button" onClick={onClose}>
            {keep}
          </button>
          <button class="b lg danger" type="button" disabled={!isReady} onClick={() => confirming.mutate()}>
            {action}
          </button>
        </>
      }
    >
      <div class="pad stack">
        {children}
        {typed !== undefined && (
          <div class="f-row">
            <label for="confirm-name">
              Type <code>{typed}</code> to go on
            </label>
            <input
              class="in-t"
              id="confirm-name"
              autocomplete="off"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
        )}
        {confirming.isError && <FailureNote error={confirming.error} />}
      </div>
    </Dialog>
  );
}
