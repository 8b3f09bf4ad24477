import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** How long the button shows that it copied, milliseconds. */
const SHOWN_MS = 1_200;

/** Copies an exact text. `what` names it for screen readers: "the key", "9 digits". */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    setTimeout(setCopied, SHOWN_MS, false);
  };
  return (
    <button
      class="copy"
      type="button"
      aria-label={isCopied ? 'Copied' : `Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </button>
  );
}

/** Browsers offer the clipboard on HTTPS and loopback only; elsewhere a hidden field serves. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'vh';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
