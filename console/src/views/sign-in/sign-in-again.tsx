import { useEffect, useRef } from 'preact/hooks';
import type { CurrentKey } from '../../api/contract.ts';
import { SignIn } from './sign-in.tsx';

interface Props {
  /** Why the session ended. */
  readonly reason: string;
  readonly onSignedIn: (key: CurrentKey) => void;
}

/**
 * The sign-in over a view whose session has ended. The view stays in the memory of the page, with what was typed. A
 * modal dialog, so that it also lies over dialogs of the view, and nothing below can be reached.
 */
export function SignInAgain({ reason, onSignedIn }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const focused = document.activeElement;
    element.current?.showModal();
    return () => {
      if (focused instanceof HTMLElement) focused.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="si-again"
      aria-label="Sign in again"
      onCancel={(event) => event.preventDefault()}
      // Browsers close a dialog at the second Escape, whatever it wants.
      onClose={() => element.current?.showModal()}
    >
      <SignIn reason={reason} onSignedIn={onSignedIn} />
    </dialog>
  );
}
