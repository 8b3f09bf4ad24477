import { type ApiCall, curlOf } from '../api/curl.ts';
import { basePath, servedAt } from '../api/served-at.ts';
import { CopyButton } from './copy-button.tsx';

/** The request behind a form, and a button that copies it as a command. */
export function ApiCallNote({ call }: { readonly call: ApiCall }) {
  return (
    <span class="sm t3 r tight">
      <code class="cut">
        {call.method} {basePath()}
        {call.path}
      </code>
      <CopyButton text={curlOf(call, servedAt().base)} what="as curl" />
    </span>
  );
}
