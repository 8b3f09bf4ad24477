import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { copyText } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly secret: string;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a secret this once. It closes only after the reader says that it is stored. */
export function SecretDialog({ title, secret, children, onClose }: Props) {
  const [isStored, setStored] = useState(false);
  const [isCopied, setCopied] = useState(false);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isAnswerNeeded
      class="narrow-d"
      foot={
        <>
          <label class="ck push-l">
            <input
              type="checkbox"
              checked={isStored}
              onChange={(event) => setStored(event.currentTarget.checked)}
            />
            I have stored it
          </label>
          <span class="push" />
          <button class="b pri lg" type="button" disabled={!isStored} onClick={onClose}>
            Done
          </button>
        </>
      }
    >
      <div class="dlg-b stack-16">
        <p>
          Copy it now. Signalbox keeps only its hash and <b>cannot show it again</b>.
        </p>
        <div class="secret">
          <code>{secret}</code>
          <button
            class="b"
            type="button"
            onClick={async () => {
              await copyText(secret);
              setCopied(true);
            }}
          >
            <Icon name={isCopied ? 'check' : 'copy'} size={14} />
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        </div>
        {children}
      </div>
    </Dialog>
  );
}
