import { CopyButton } from './copy-button.tsx';

/** Code that can be copied. It scrolls, so it can be reached by the keyboard. */
export function CodeBlock({ code, what }: { readonly code: string; readonly what: string }) {
  return (
    <div class="code">
      <CopyButton text={code} what={what} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways */}
      <pre tabIndex={0}>{code}</pre>
    </div>
  );
}
