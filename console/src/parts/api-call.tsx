import { type ApiCall, curlOf } from '../api/curl.ts';
import { CopyButton } from './copy-button.tsx';

/** The request behind a form, and a button that copies it as a command. */
export function ApiCallNote({ call }: { readonly call: ApiCall }) {
  return (
    <span class="sm t3 r tight">
      <code class="cut">
        {call.method} /v1{call.path}
      </code>
      <CopyButton text={curlOf(call, window.location.origin)} what="as curl" />
    </span>
  );
}
