import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons at the foot. */
  readonly foot?: ComponentChildren;
  readonly class?: string;
  /** Only its own buttons close it: neither Escape nor a cross do. */
  readonly isAnswerNeeded?: boolean;
}

/** What the focus goes to when a dialog opens: without a field, the first button. */
const FIELD = ':is(input, textarea, select):not(:disabled, [readonly])';

/** A modal dialog. Mount it to open it; Escape and the cross call `onClose`. Focus returns to its opener. */
export function Dialog({ title, onClose, children, foot, class: name, isAnswerNeeded = false }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    if (!isAnswerNeeded) element.current?.querySelector<HTMLElement>(FIELD)?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={name}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        if (!isAnswerNeeded) onClose();
      }}
    >
      <header class="dlg-h">
        <h2>{title}</h2>
        {!isAnswerNeeded && (
          <button class="b quiet ico" type="button" aria-label="Close" onClick={onClose}>
            <Icon name="cross" size={14} />
          </button>
        )}
      </header>
      {children}
      {foot !== undefined && <footer class="dlg-f">{foot}</footer>}
    </dialog>
  );
}
